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
	mux := http.NewServeMux()
	mux.HandleFunc("/stats", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "stats of the target") })
	mux.HandleFunc("/x", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x of the target") })
	mux.Handle("/away", http.RedirectHandler(other.URL, http.StatusFound))
	server := httptest.NewServer(mux)
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
		{target.URL("/stats"), http.StatusOK, "stats of the target"},
		{other.URL + "/x", http.StatusOK, "x of the target"},
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
