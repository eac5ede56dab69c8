package fleet

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"coldwave/fleet/worker"
)

// APIBodyMax is the limit of a request's body in bytes.
const APIBodyMax = 64 << 10

// apiBodyTime is how long a client may take to send it.
const apiBodyTime = 10 * time.Second

// request is the body of POST /workers. What is left out has the fleet's default.
type request struct {
	ID          string  `json:"id"`
	Function    string  `json:"function"`
	ColdStart   *string `json:"cold_start"`
	Service     *string `json:"service"`
	Concurrency *int    `json:"concurrency"`
}

// view is a worker as the API tells of it.
type view struct {
	ID          string        `json:"id"`
	Function    string        `json:"function"`
	State       string        `json:"state"`   // starting, ready, stopping, stopped, failed, lost
	Address     string        `json:"address"` // "host:port"; empty until it can serve
	URL         string        `json:"url"`     // the same as a URL
	ColdStart   time.Duration `json:"cold_start_ns"`
	Service     time.Duration `json:"service_ns"`
	Concurrency int           `json:"concurrency"`
	Error       string        `json:"error,omitempty"`
	worker.Stats
}

func (a *API) view(o *order) view {
	v := view{
		ID: o.ask.name, Function: o.ask.function, State: Starting.String(),
		Service: o.ask.service, Concurrency: o.ask.concurrency,
	}
	i, found := a.fleet.Instance(o.id)
	if err := a.failure(o); err != nil {
		v.State, v.Error = Failed.String(), err.Error()
	}
	if !found {
		return v
	}
	v.State, v.Address, v.ColdStart, v.Stats = i.State.String(), i.Addr, i.StartUp.Total, i.Worker
	if i.Addr != "" {
		v.URL = "http://" + i.Addr
	}
	if i.Err != nil {
		v.Error = i.Err.Error()
	}
	return v
}

func (a *API) routes() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("/healthz", methods{http.MethodGet: func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]string{"status": "ok"})
	}}.serve)
	m.HandleFunc("/workers", methods{http.MethodGet: a.list, http.MethodPost: a.create}.serve)
	m.HandleFunc("/workers/{id}", methods{http.MethodGet: a.show, http.MethodDelete: a.remove}.serve)
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, http.StatusNotFound, fmt.Errorf("no %.80q here: there are /workers, /workers/{id} and /healthz", r.URL.Path))
	})
	return m
}

// methods are what one path answers to.
type methods map[string]http.HandlerFunc

func (m methods) serve(w http.ResponseWriter, r *http.Request) {
	if h := m[r.Method]; h != nil {
		h(w, r)
		return
	}
	var allowed []string
	for _, name := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		if m[name] != nil {
			allowed = append(allowed, name)
		}
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	fail(w, http.StatusMethodNotAllowed, fmt.Errorf("%.20q is not for %.80q: use %s", r.Method, r.URL.Path, strings.Join(allowed, " or ")))
}

func (a *API) list(w http.ResponseWriter, _ *http.Request) {
	views := []view{}
	for _, o := range a.all() {
		views = append(views, a.view(o))
	}
	reply(w, http.StatusOK, map[string][]view{"workers": views})
}

func (a *API) show(w http.ResponseWriter, r *http.Request) {
	if o := a.named(w, r); o != nil {
		reply(w, http.StatusOK, a.view(o))
	}
}

// named returns the worker that the path names, or answers 404.
func (a *API) named(w http.ResponseWriter, r *http.Request) *order {
	o := a.find(r.PathValue("id"))
	if o == nil {
		fail(w, http.StatusNotFound, fmt.Errorf("no worker %.80q", r.PathValue("id")))
	}
	return o
}

func (a *API) create(w http.ResponseWriter, r *http.Request) {
	decided := a.cfg.Clock.Now()
	wait, err := waits(r.URL.Query())
	if err != nil {
		fail(w, http.StatusBadRequest, err)
		return
	}
	q, status, err := decode(w, r)
	if err != nil {
		fail(w, status, err)
		return
	}
	k, err := a.complete(q)
	if err != nil {
		fail(w, http.StatusBadRequest, err)
		return
	}
	o, err := a.enter(k)
	if err != nil {
		fail(w, statusOf(err), err)
		return
	}
	w.Header().Set("Location", "/workers/"+o.ask.name)
	if !wait {
		go func() { _ = a.start(context.WithoutCancel(r.Context()), o, decided) }() // the view tells how it ended
		reply(w, http.StatusAccepted, a.view(o))
		return
	}
	if err := a.start(r.Context(), o, decided); err != nil {
		a.forget(o)
		w.Header().Del("Location")
		fail(w, statusOf(err), err)
		return
	}
	reply(w, http.StatusCreated, a.view(o))
}

// waits reads ?wait=, which is true unless it is told otherwise.
func waits(q url.Values) (bool, error) {
	switch v := q.Get("wait"); v {
	case "", "true", "1":
		return true, nil
	case "false", "0":
		return false, nil
	default:
		return false, fmt.Errorf("wait=%.20q: want true or false", v)
	}
}

func (a *API) remove(w http.ResponseWriter, r *http.Request) {
	o := a.named(w, r)
	if o == nil {
		return
	}
	limit := a.cfg.Drain
	if text := r.URL.Query().Get("drain"); text != "" {
		var err error
		if limit, err = time.ParseDuration(text); err != nil || limit < 0 || limit > DrainMax {
			fail(w, http.StatusBadRequest, fmt.Errorf("drain=%.40q: want 0s to %v", text, DrainMax))
			return
		}
	}
	// A client that goes away must not cut the requests of others.
	err := a.fleet.Stop(context.WithoutCancel(r.Context()), o.id, limit)
	v := a.view(o)
	if err != nil {
		v.Error = err.Error()
	}
	a.forget(o)
	reply(w, http.StatusOK, v)
}

func statusOf(err error) int {
	switch {
	case errors.Is(err, errTaken), errors.Is(err, ErrStopped):
		return http.StatusConflict
	case errors.Is(err, ErrFull), errors.Is(err, ErrClosed):
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

// decode reads the body strictly: one JSON object, no unknown keys, nothing behind it. No body at all is the empty one.
func decode(w http.ResponseWriter, r *http.Request) (q request, status int, err error) {
	if r.Body != http.NoBody { // without one, the watch for the client's going would inherit the deadline
		deadline := time.Now().Add(apiBodyTime)                     //nolint:forbidigo // a socket's deadline is wall time
		_ = http.NewResponseController(w).SetReadDeadline(deadline) // fails only where there is no connection
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, APIBodyMax))
	d.DisallowUnknownFields()
	if err = d.Decode(&q); errors.Is(err, io.EOF) {
		err = nil
	}
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows it")
		}
	}
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		return q, http.StatusRequestEntityTooLarge, fmt.Errorf("body is longer than %d bytes", tooLong.Limit)
	}
	if err != nil {
		return q, http.StatusBadRequest, fmt.Errorf("body must be one JSON object: %w", err)
	}
	return q, 0, nil
}

// guard keeps out what does not come from a program on this host: names that were bound to a loopback address
// elsewhere, web pages, and clients without the token (RELIABILITY 4.5).
func (a *API) guard(next http.Handler) http.Handler {
	origins := http.NewCrossOriginProtection()
	origins.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusForbidden, errors.New("a web page of another origin may not do this"))
	}))
	token := a.token(origins.Handler(next))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopbackHost(r.Host) {
			fail(w, http.StatusForbidden, fmt.Errorf("host %.80q is not this host: use localhost or 127.0.0.1", r.Host))
			return
		}
		token.ServeHTTP(w, r)
	})
}

func loopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}

// token lets through who knows it. The hashes have one length, so the comparison tells nothing by its time.
func (a *API) token(next http.Handler) http.Handler {
	if a.cfg.Token == "" {
		return next
	}
	want := sha256.Sum256([]byte("Bearer " + a.cfg.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		if r.URL.Path != "/healthz" && subtle.ConstantTimeCompare(got[:], want[:]) == 0 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			fail(w, http.StatusUnauthorized, errors.New("send the token: Authorization: Bearer …"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func fail(w http.ResponseWriter, status int, err error) {
	reply(w, status, map[string]string{"error": strings.ReplaceAll(err.Error(), "\n", "; ")})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // it fails only when the client has gone
}
