package engine

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Questions beside the load go to the target and nowhere else, whatever the URL of the request or an answer says.
func TestClientReachesItsTargetOnly(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "other") }))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, other.URL, http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "target "+r.URL.Path)
	}))
	defer server.Close()
	var guard *Guard
	target, err := guard.Target(server.URL + "/own?key=1")
	if err != nil {
		t.Fatal(err)
	}
	client := target.Client()
	defer client.CloseIdleConnections()
	for _, c := range []struct {
		url    string
		status int
		body   string
	}{
		{target.URL("/stats"), http.StatusOK, "target /stats"},
		{other.URL + "/x", http.StatusOK, "target /x"},
		{target.URL("/away"), http.StatusFound, "Found"},
	} {
		resp, err := client.Get(c.url)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != c.status || !strings.Contains(string(body), c.body) {
			t.Errorf("GET %s = %d %q, want %d with %q", c.url, resp.StatusCode, body, c.status, c.body)
		}
	}
}
