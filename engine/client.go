package engine

import (
	"context"
	"net"
	"net/http"
)

// Client returns an HTTP client that connects to this target only, under the same guard as the load, and follows no
// redirect. It is for questions beside the load, such as to an admin port.
func (t *Target) Client() *http.Client {
	dialer := &net.Dialer{Control: t.control}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return dialer.DialContext(ctx, network, t.address)
			},
			MaxIdleConns: 2,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// URL returns the target's URL with the path in place of its own.
func (t *Target) URL(path string) string {
	u := *t.url
	u.Path, u.RawPath, u.RawQuery, u.Fragment = path, "", "", ""
	return u.String()
}
