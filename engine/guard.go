package engine

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// ErrTarget is wrapped by the error of a target or allow entry that cannot be read: wrong input, nothing was sent.
var ErrTarget = errors.New("bad target")

// RefusedError says that a target was refused for safety (R24). Nothing was sent to it.
type RefusedError struct {
	Target string // without user information
	Reason string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("target %s refused: %s", e.Target, e.Reason)
}

// Guard decides which targets may be sent to: this host's loopback, and beyond it only what was allowed by name. The
// zero value and nil allow loopback only.
type Guard struct {
	allowed map[string]bool // "host:port", host in lower case
}

// NewGuard returns a guard that allows loopback and the given HOST:PORT entries. Errors wrap ErrTarget.
func NewGuard(allow ...string) (*Guard, error) {
	g := &Guard{allowed: map[string]bool{}}
	for _, entry := range allow {
		host, port, err := net.SplitHostPort(entry)
		if err != nil || host == "" || !validPort(port) {
			return nil, fmt.Errorf("allowed target %q: %w: write it as HOST:PORT, such as example.org:443", entry, ErrTarget)
		}
		g.allowed[net.JoinHostPort(canonicalHost(host), port)] = true
	}
	return g, nil
}

// Target is a URL that a guard has let pass. Only Guard.Target makes one.
type Target struct {
	url     *url.URL
	address string // host:port
	local   bool   // loopback was asked for: no other address may be dialed
	literal netip.Addr
}

// Target reads and checks a URL before any packet: http or https, a host, and a host that is loopback or was allowed.
// What the host resolves to is checked again when it is dialed. Errors wrap ErrTarget or are a *RefusedError.
func (g *Guard) Target(raw string) (*Target, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w: write it as http://127.0.0.1:8080/path", redact(raw), ErrTarget)
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("target %s: %w: scheme: use http or https", redact(raw), ErrTarget)
	}
	host, port := canonicalHost(u.Hostname()), u.Port()
	if port == "" && !strings.HasSuffix(u.Host, ":") {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if host == "" || !validPort(port) {
		return nil, fmt.Errorf("target %s: %w: host %q: use a host and a port from 1 to 65535", show(u), ErrTarget, u.Host)
	}
	t := &Target{url: u, address: net.JoinHostPort(host, port)}
	if reason := t.judge(host, g.allows(t.address)); reason != "" {
		return nil, &RefusedError{Target: show(u), Reason: reason}
	}
	return t, nil
}

func (g *Guard) allows(address string) bool { return g != nil && g.allowed[address] }

// judge says why the host must not be sent to; empty: it may.
func (t *Target) judge(host string, allowed bool) string {
	ip, err := netip.ParseAddr(host)
	switch {
	case err == nil && ip.Zone() != "":
		return "addresses with a zone are not accepted"
	case err == nil:
		t.literal, t.local = ip.Unmap(), ip.Unmap().IsLoopback()
		if reason := never(t.literal); reason != "" {
			return reason
		}
	case host == "localhost":
		t.local = true
	case numeric(host):
		return "an address in shortened, octal, decimal or hexadecimal form: write it in full, such as 127.0.0.1"
	}
	if t.local || allowed {
		return ""
	}
	return fmt.Sprintf("it is not on this host: allow %s if you are authorised to load it", t.address)
}

// never says why an address must not be dialed whatever was allowed.
func never(ip netip.Addr) string {
	metadata := netip.MustParseAddr("fd00:ec2::254")
	switch {
	case ip.IsUnspecified():
		return fmt.Sprintf("%v means every address of this host: name one, such as 127.0.0.1", ip)
	case ip.IsLinkLocalUnicast() || ip == metadata:
		return fmt.Sprintf("%v is a link-local or metadata address", ip)
	case ip.IsMulticast() || ip == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return fmt.Sprintf("%v is no address of one host", ip)
	}
	return ""
}

// control is net.Dialer.Control: it sees the address that is about to be dialed, whatever the name resolved to, and so
// meets names with several addresses and names that resolve differently the second time.
func (t *Target) control(_, address string, _ syscall.RawConn) error {
	reason := t.dialable(address)
	if reason == "" {
		return nil
	}
	return &RefusedError{Target: t.String(), Reason: reason}
}

func (t *Target) dialable(address string) string {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Sprintf("it resolved to %q, which is no address with a port", address)
	}
	ip := ap.Addr().Unmap()
	_, port, _ := net.SplitHostPort(t.address)
	switch reason := never(ip); {
	case reason != "":
		return reason
	case strconv.Itoa(int(ap.Port())) != port:
		return fmt.Sprintf("it would be dialed on port %d", ap.Port())
	case t.local && !ip.IsLoopback():
		return fmt.Sprintf("it resolved to %v, which is not loopback", ip)
	case t.literal.IsValid() && ip != t.literal:
		return fmt.Sprintf("it would be dialed as %v", ip)
	}
	return ""
}

// String is the URL without user information and without the values of query keys that look like secrets.
func (t *Target) String() string { return show(t.url) }

// Address returns host:port.
func (t *Target) Address() string { return t.address }

// Loopback says whether the target is on this host.
func (t *Target) Loopback() bool { return t.local }

// canonicalHost folds the spellings that mean the same to every resolver.
func canonicalHost(host string) string {
	host = strings.ToLower(host)
	if host == "localhost." {
		return "localhost"
	}
	return host
}

// numeric says whether a resolver may read the host as an address although it is not written as one: its last label is
// a number (as in 127.1, 0x7f000001, 017700000001 or 2130706433).
func numeric(host string) bool {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	_, err := strconv.ParseUint(labels[len(labels)-1], 0, 64)
	return err == nil || errors.Is(err, strconv.ErrRange) || allDigits(labels[len(labels)-1])
}

func allDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func validPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0 && strconv.FormatUint(n, 10) == s
}

// secretKeys are the query keys whose values are never shown (checklist 4.2).
var secretKeys = regexp.MustCompile(`(?i)token|secret|key|password|auth|session`)

const hidden = "xxxxx"

func show(u *url.URL) string {
	c := *u
	if c.User != nil {
		c.User = url.User(hidden)
	}
	pairs := strings.Split(c.RawQuery, "&")
	for i, pair := range pairs {
		if name, _, found := strings.Cut(pair, "="); found && secretKeys.MatchString(name) {
			pairs[i] = name + "=" + hidden
		}
	}
	c.RawQuery = strings.Join(pairs, "&")
	return c.String()
}

// redact hides what may be user information in a text that is no URL.
func redact(raw string) string {
	scheme, rest, found := strings.Cut(raw, "://")
	if !found {
		scheme, rest = "", raw
	} else {
		scheme += "://"
	}
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		rest = hidden + rest[i:]
	}
	return strconv.Quote(scheme + rest)
}

// refusals keeps the first refusal of a run.
type refusals struct {
	mu    sync.Mutex
	first error
}

func (r *refusals) add(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first == nil {
		r.first = err
	}
}

func (r *refusals) err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first
}
