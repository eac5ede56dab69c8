package gateway

import (
	"fmt"
	"net/url"
	"strings"
)

// Paths of the data port that are the gateway's own. Everything else below "/" belongs to functions.
const (
	functionPrefix = "/fn/"
	asyncPrefix    = "/async" // kept free: such a request must never be taken for a synchronous one
	healthPath     = "/healthz"
)

// route says where a request goes. Path and query are the raw bytes of the request line: what is not the gateway's is
// passed on as it came (R14).
type route struct {
	own      string // healthPath, or empty
	function string // empty: the only function
	path     string // begins with "/"
	query    string
	hasQuery bool
}

// parseRoute reads a request target: origin form, or absolute form, whose authority is ignored because a gateway never
// goes where a request says (4.1).
func parseRoute(target string) (route, error) {
	path, query, hasQuery := strings.Cut(target, "?")
	path, err := originForm(path)
	if err != nil {
		return route{}, err
	}
	r := route{path: path, query: query, hasQuery: hasQuery}
	switch {
	case path == healthPath:
		r.own = healthPath
		return r, nil
	case below(path, asyncPrefix):
		return route{}, fmt.Errorf("%w: asynchronous calls are not served here", ErrNoFunction)
	case below(path, strings.TrimSuffix(functionPrefix, "/")):
		return r.named()
	}
	return r, nil
}

// below says whether the path is root or lies under it.
func below(path, root string) bool {
	rest, ok := strings.CutPrefix(path, root)
	return ok && (rest == "" || rest[0] == '/')
}

func originForm(path string) (string, error) {
	if strings.HasPrefix(path, "/") {
		return path, nil
	}
	_, rest, ok := strings.Cut(path, "://")
	if !ok {
		return "", fmt.Errorf("target %.40q: want a path that begins with /: %w", path, ErrTarget)
	}
	if _, path, ok = strings.Cut(rest, "/"); !ok {
		return "/", nil
	}
	return "/" + path, nil
}

// named takes /fn/<name> off the path.
func (r route) named() (route, error) {
	rest, _ := strings.CutPrefix(r.path, functionPrefix)
	name, path, _ := strings.Cut(rest, "/")
	plain, err := url.PathUnescape(name)
	if err != nil {
		return route{}, fmt.Errorf("function name %.40q: %w", name, ErrTarget)
	}
	if plain == "" || r.path == strings.TrimSuffix(functionPrefix, "/") {
		return route{}, fmt.Errorf("%w: name a function as in /fn/<name>/", ErrNoFunction)
	}
	r.function, r.path = plain, "/"+path
	return r, nil
}

// url is the target at an instance. Opaque keeps the bytes of the path as they are; a path that begins with "//" would
// be taken for an authority there, so it goes the other way, where some bytes cannot stay as they are.
func (r route) url(addr string) (*url.URL, error) {
	u := &url.URL{Scheme: "http", Host: addr, RawQuery: r.query, ForceQuery: r.hasQuery}
	if !strings.HasPrefix(r.path, "//") {
		u.Opaque = r.path
		return u, nil
	}
	plain, err := url.PathUnescape(r.path)
	u.Path, u.RawPath = plain, r.path
	if err != nil || u.EscapedPath() != r.path {
		return nil, fmt.Errorf("path %.40q cannot be passed on as it is: %w", r.path, ErrTarget)
	}
	return u, nil
}
