package gateway

import (
	"net"
	"net/http"
	"time"
)

// Deadlines of sockets are on the wall clock, whatever clock the run is on: they guard against peers that stand still,
// and no number of a run depends on them.

// after is the wall time in d.
func after(d time.Duration) time.Time {
	return time.Now().Add(d) //nolint:forbidigo // the one place where a socket's deadline is made
}

// readWithin bounds the next reads from a client. It fails only where there is no connection.
func readWithin(w http.ResponseWriter, d time.Duration) {
	_ = http.NewResponseController(w).SetReadDeadline(after(d))
}

// readFreely takes the bound away: the watch for a client that goes away must not end while its request is served.
func readFreely(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
}

// writeWithin bounds the next writes to a client.
func writeWithin(w http.ResponseWriter, d time.Duration) {
	_ = http.NewResponseController(w).SetWriteDeadline(after(d))
}

// writeFreely takes the bound away: an answer may stream for longer than any bound, as long as the client reads.
func writeFreely(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
}

// lingerWithin bounds the wait for an instance that goes on without its client.
func lingerWithin(c net.Conn, d time.Duration) { _ = c.SetReadDeadline(after(d)) }
