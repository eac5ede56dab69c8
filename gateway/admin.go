package gateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Admin configures the admin port.
type Admin struct {
	Token string // what callers must show as a bearer token; empty: none, and loopback only
}

// ErrAdminOpen refuses an admin port that others could reach without a token (4.5).
var ErrAdminOpen = errors.New("admin port outside loopback without a token")

// MayListen returns ErrAdminOpen for an address outside loopback if there is no token. Serve asks it too.
func (a Admin) MayListen(addr net.Addr) error {
	host, _, err := net.SplitHostPort(addr.String())
	if err != nil || a.Token != "" || isLoopback(host) {
		return nil // an address without a port is no network
	}
	return fmt.Errorf("%s: %w: listen on 127.0.0.1, or set a token", addr, ErrAdminOpen)
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback() || host == "localhost"
}

// AdminHandler is the admin port: GET only, JSON only except /metrics and /healthz.
func (g *Gateway) AdminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { g.health(w) })
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, g.statsView()) })
	mux.HandleFunc("GET /instances", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, g.instancesView()) })
	mux.HandleFunc("GET /nodes", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, g.nodesView()) })
	mux.HandleFunc("GET /decisions", g.serveDecisions)
	mux.HandleFunc("GET /scale", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, g.scaleView()) })
	mux.Handle("GET /metrics", promhttp.HandlerFor(g.stats.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	return g.cfg.Admin.guard(mux)
}

// guard lets nobody in by accident: a browser page that was sent to loopback by a name of its own (DNS rebinding), or
// that posts across origins, or a caller without the token.
func (a Admin) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			adminError(w, http.StatusMethodNotAllowed, "method "+r.Method+": the admin port only answers questions; use GET")
		case !a.hostAllowed(r.Host) || !originAllowed(r):
			adminError(w, http.StatusForbidden, "this name or origin may not ask; use the address that was printed at the start")
		case r.URL.Path != healthPath && !a.tokenShown(r):
			w.Header().Set("WWW-Authenticate", "Bearer")
			adminError(w, http.StatusUnauthorized, "show the admin token as Authorization: Bearer …")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// hostAllowed refuses names: a rebinding attack needs one. With a token any host will do.
func (a Admin) hostAllowed(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return a.Token != "" || isLoopback(host)
}

func originAllowed(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return r.Header.Get("Sec-Fetch-Site") != "cross-site"
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host == r.Host
}

// tokenShown compares digests, so the time tells neither content nor length.
func (a Admin) tokenShown(r *http.Request) bool {
	shown, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	got, want := sha256.Sum256([]byte(shown)), sha256.Sum256([]byte(a.Token))
	return a.Token == "" || ok && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

func (g *Gateway) adminServer() *http.Server {
	l := g.cfg.Limits
	return &http.Server{
		Handler: g.AdminHandler(), ReadHeaderTimeout: l.HeaderTime, ReadTimeout: l.BodyTime, WriteTimeout: l.AnswerTime,
		IdleTimeout: l.IdleTime, MaxHeaderBytes: l.HeaderBytes - netHTTPSlop,
		ErrorLog: slog.NewLogLogger(g.cfg.Log.Handler(), slog.LevelDebug),
	}
}

// decisionsDefault is how many decisions /decisions shows when it is not asked for a number.
const decisionsDefault = 100

func (g *Gateway) serveDecisions(w http.ResponseWriter, r *http.Request) {
	n := decisionsDefault
	if text := r.URL.Query().Get("n"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 1 {
			adminError(w, http.StatusBadRequest, fmt.Sprintf("n=%.20q: want a number of decisions ≥ 1", text))
			return
		}
	}
	writeJSON(w, g.decisionsView(n))
}

func adminError(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": text}) // a failed write means that whoever asked has gone
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(v) // a failed write means that whoever asked has gone
}
