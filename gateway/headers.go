package gateway

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"coldwave/record"
)

// requestIDMax is the limit of a request id in bytes.
const requestIDMax = 64

// isRequestID says whether s may be a request's id: 1 to 64 characters of A–Z a–z 0–9 . _ - (4.5). Other text must
// neither be echoed nor logged.
func isRequestID(s string) bool {
	if s == "" || len(s) > requestIDMax {
		return false
	}
	for i := range len(s) {
		b := s[i]
		if (b < 'A' || b > 'Z') && (b < 'a' || b > 'z') && (b < '0' || b > '9') && b != '.' && b != '_' && b != '-' {
			return false
		}
	}
	return true
}

// naming makes ids for requests that bring none: a random part for each gateway, and a serial.
type naming struct {
	prefix string
	serial atomic.Int64
}

func newNaming() *naming {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails: the runtime ends the process instead
	return &naming{prefix: "gw" + hex.EncodeToString(b[:]) + "-"}
}

// requestID is the client's id if it sent exactly one good one, else a new one.
func (n *naming) requestID(h http.Header) string {
	if ids := h.Values(record.RequestIDHeader); len(ids) == 1 && isRequestID(ids[0]) {
		return ids[0]
	}
	return n.prefix + strconv.FormatInt(n.serial.Add(1), 10)
}

// hopByHop are the headers that belong to one connection (RP-03).
var hopByHop = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te",
	"Trailer", "Transfer-Encoding", "Upgrade"}

// dropHopByHop removes what belongs to one connection, and what the Connection headers name, all of them (RP-01).
func dropHopByHop(h http.Header) {
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hopByHop {
		h.Del(name)
	}
}

// ownPrefix begins the headers that only the gateway sets; the demand is the one that clients set.
const ownPrefix = "X-Coldwave-"

// isOwn says whether an answer's header is the gateway's to set.
func isOwn(name string) bool {
	name = http.CanonicalHeaderKey(name)
	return name != ReasonHeader && strings.HasPrefix(name, ownPrefix) || name == record.TimingHeader || name == record.RequestIDHeader
}

// dropOwn removes what a client or an instance may not say in the gateway's name.
func dropOwn(h http.Header) {
	for name := range h {
		if isOwn(strings.TrimPrefix(name, http.TrailerPrefix)) {
			delete(h, name)
		}
	}
}

// keepClean removes the gateway's own and the hop-by-hop headers from trailers.
func keepClean(trailer http.Header) {
	dropOwn(trailer)
	for name := range trailer {
		for _, hop := range hopByHop {
			if strings.EqualFold(strings.TrimPrefix(name, http.TrailerPrefix), hop) {
				delete(trailer, name)
			}
		}
	}
}

// upgrade is the one protocol that a request may switch to. Another token, such as h2c, is dropped, and the request goes
// on without it (R14).
const upgrade = "websocket"

func dropUpgrade(h http.Header) {
	if !strings.EqualFold(h.Get("Upgrade"), upgrade) {
		h.Del("Upgrade")
		h.Del("Connection")
	}
}
