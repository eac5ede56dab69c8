package record

import "coldwave/internal/clock"

// Notice is something that happened to the revisions of a service while requests came: a deployment, a shift of traffic.
type Notice struct {
	At       clock.Instant
	What     NoticeKind
	Revision string // that it is about; empty: all
	Need     int    // instances that the revision is to have before the traffic moves; 0: none
	Split    string // percent by revision, "v1=90,v2=10"; of Prepared, Shifted and Ready
	Why      string // of Refused and Abandoned
}

// NoticeKind says what happened.
type NoticeKind uint8

// The kinds of notice.
const (
	Deployed    NoticeKind = iota // the revision exists from now on, without traffic
	Prepared                      // a split was asked for; the revisions that gain by it get their instances first
	Shifted                       // the split is in force
	Ready                         // the revision has its instances; the split is fixed and stays as it is
	Abandoned                     // the split that was asked for will not come, the old one stays
	Refused                       // what was asked for cannot be done; nothing changed
	Retired                       // the revision has no requests any more and loses its instances
	Gone                          // the last instance of the revision has ended
	NoticeKinds                   // number of kinds
)

var noticeNames = [NoticeKinds]string{"deployed", "prepared", "shifted", "ready", "abandoned", "refused", "retired", "gone"}

func (k NoticeKind) String() string { return name(noticeNames[:], int(k)) }
