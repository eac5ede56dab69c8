package record

// The headers of the wire contract.
const (
	RequestIDHeader = "X-Request-Id"          // <run>-<seq>, set by the sender
	TimingHeader    = "Server-Timing"         // queue, init, exec in milliseconds, additive
	InstanceHeader  = "X-Coldwave-Instance"   // name of the instance that answered
	ReasonHeader    = "X-Coldwave-Reason"     // why the gateway or an instance answered with an error: one word
	LoadHeader      = "Endpoint-Load-Metrics" // an instance's load report to whoever balances, in the text form of ORCA
	RevisionHeader  = "X-Coldwave-Revision"   // name of the revision that the request was routed to
	StartHeader     = "X-Coldwave-Start"      // text form of a StartKind
	StartByHeader   = "X-Coldwave-Start-By"   // text form of a StartBy
)

// MaxInstanceName is the length in bytes to which ServerFrom cuts the name of an instance or a revision: a record must stay small whatever
// a target sends.
const MaxInstanceName = 128

// ServerFrom reads what a target said of one request; get is http.Header.Get or its like. A header that is missing or
// cannot be read leaves its fields zero: foreign targets send their own Server-Timing, and that is no fault of theirs.
// Source is FromHeader exactly when the start kind was told.
func ServerFrom(get func(name string) string) Server {
	var s Server
	if queue, init, exec, err := ParseTiming(get(TimingHeader)); err == nil {
		s.Queue, s.Init, s.Exec = queue, init, exec
	}
	s.Instance = cut(get(InstanceHeader), MaxInstanceName)
	s.Revision = cut(get(RevisionHeader), MaxInstanceName)
	s.StartBy, _ = ParseStartBy(get(StartByHeader))
	if kind, ok := ParseStartKind(get(StartHeader)); ok && kind != StartUnknown {
		s.Start, s.Source = kind, FromHeader
	}
	return s
}

// Headers is the inverse of ServerFrom: it calls set, which is http.Header.Set or its like, for each header of s. An
// unknown start kind, an empty instance and an empty revision are not told.
func (s Server) Headers(set func(name, value string)) {
	set(TimingHeader, s.Timing())
	if s.Instance != "" {
		set(InstanceHeader, s.Instance)
	}
	if s.Revision != "" {
		set(RevisionHeader, s.Revision)
	}
	if s.Start != StartUnknown {
		set(StartHeader, s.Start.String())
	}
	if s.StartBy != ByUnknown {
		set(StartByHeader, s.StartBy.String())
	}
}

func cut(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}
