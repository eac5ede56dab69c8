package scheduler

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/rng"
	"coldwave/record"
)

// RevisionID numbers the revisions of one service: serial from 1 in order of deployment, 0 = none, never reused.
type RevisionID int32

// What a service refuses. Nothing has changed then.
var (
	ErrRevision = errors.New("bad revision") // its name is bad, taken or unknown, its limits let nothing start, or it is in use
	ErrShifting = errors.New("traffic is about to move already")
)

// Service is what stands above the revisions of a service, each of which has a Core of its own: which revision an arrival
// goes to, and how traffic moves from one to another. Like a core it is sans-IO and for one goroutine. It calls no core but
// reads them: what is to happen to one it tells the host by an Order.
//
// The life of a revision: it is deployed, gets the instances that its share of the traffic needs, and only then the
// traffic (CR-29). Requests stay with the revision that they were routed to. When its traffic has moved on, it keeps no
// minimum any more and its policy lets its instances go. A revision that was removed, or whose deployment failed, is
// retired: when its last request has ended it may have no instance.
//
// The host calls Saw after each call of a core, with what the core was told, and Advance when Next has come: after all
// else that happens at that instant. Obey carries out orders.
type Service struct {
	o         ServiceConfig
	revisions []*revision // by id - 1
	latest    RevisionID  // deployed last, of those whose deployment went well
	split     Split       // in force
	wheel     wheel       // of it
	move      *move       // nil: none is under way
	calm      clock.Instant
	busy      bool // Saw has something to look at
	notices   []record.Notice
}

// ServiceConfig are the constants of a service (U-21).
type ServiceConfig struct {
	Seed     uint64        // of what decides which revision a key goes to
	Deadline time.Duration // for the instances to be ready before traffic moves; 0: 240 s
	Settle   time.Duration // for which they stay afterwards, whatever the policy has seen; 0: a minute
}

// Defaults of ServiceConfig.
const (
	DefaultDeadline = 240 * time.Second
	DefaultSettle   = time.Minute
)

// revision is one revision of a service.
type revision struct {
	name    string
	core    *Core
	own     Config // limits that were asked for
	inForce Config // limits that the core has
	floor   int    // instances that it must have, whatever its own minimum; 0: none
	state   life
}

type life uint8

const (
	serving  life = iota // it has traffic, or may get some
	leaving              // it was removed: when it has no request any more it is retired
	retired              // its instances end
	departed             // it has none any more
)

// move is a split on its way.
type move struct {
	deployed RevisionID // the new revision; 0: all are known
	split    Split
	gains    []gain
	deadline clock.Instant
}

// gain is a revision whose share grows.
type gain struct {
	rev    RevisionID
	need   int // instances
	before int // its floor until then
}

// Order asks the host to configure a core.
type Order struct {
	Rev    RevisionID
	Limits Config
}

// Deployment is a new revision.
type Deployment struct {
	Name   string // 1 to 63 characters of a–z A–Z 0–9 . _ -, not Latest, of no other revision that the service ever had
	Core   *Core  // of a fresh policy, made with Limits; it has seen no event
	Limits Config // Max ≥ 1
	Split  Split  // from the shift on; nil: the present one, in which Latest now means the new revision
}

// NewService returns a service without a revision. All traffic goes to Latest.
func NewService(o ServiceConfig) *Service {
	o.Deadline, o.Settle = cmp.Or(o.Deadline, DefaultDeadline), cmp.Or(o.Settle, DefaultSettle)
	return &Service{o: o, split: Split{{Latest, 100}}, calm: clock.Never}
}

var revisionName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,63}$`)

func nameOK(name string) bool { return name != Latest && revisionName.MatchString(name) }

func errName(name string) error {
	return fmt.Errorf("revision %.80q: a name has 1 to 63 characters of A–Z a–z 0–9 . _ - and is not %q", name, Latest)
}

// Deploy adds a revision and returns its id. The first one gets its traffic at once; there is nothing that it could
// take it from. Any other gets the instances that its share needs, at least one, and the split changes when they are ready.
// Errors wrap ErrRevision, ErrShifting, ErrSplit or ErrConfig.
func (s *Service) Deploy(dst []Order, now clock.Instant, d Deployment) ([]Order, RevisionID, error) {
	if err := s.mayDeploy(d); err != nil {
		return dst, 0, err
	}
	s.relate(d.Core)
	s.revisions = append(s.revisions, &revision{name: d.Name, core: d.Core, own: d.Limits.withDefaults()})
	rev := RevisionID(len(s.revisions))
	s.tell(record.Notice{At: now, What: record.Deployed, Revision: d.Name})
	target := d.Split
	if target == nil {
		target = s.split
	}
	if rev == 1 {
		s.latest = rev
		s.adopt(target)
		return s.settle(dst), rev, nil
	}
	s.begin(now, rev, target)
	return s.shiftIfReady(dst, now), rev, nil
}

func (s *Service) mayDeploy(d Deployment) error {
	live := 0
	for _, r := range s.revisions {
		if r.state != departed {
			live++
		}
	}
	switch {
	case !nameOK(d.Name):
		return fmt.Errorf("%w: %w", ErrRevision, errName(d.Name))
	case s.find(d.Name) != 0:
		return fmt.Errorf("%w: %q exists or existed: give the new one another name", ErrRevision, d.Name)
	case live >= MaxRevisions:
		return fmt.Errorf("%w: %q would be one more than %d: remove one first", ErrRevision, d.Name, MaxRevisions)
	case d.Limits.Max < 1:
		return fmt.Errorf("%w: %q with max %d could serve nothing: raise max", ErrRevision, d.Name, d.Limits.Max)
	case s.move != nil:
		return fmt.Errorf("%w, to %q: deploy %q when it has", ErrShifting, s.move.split, d.Name)
	}
	if err := d.Limits.Validate(); err != nil {
		return err
	}
	if d.Split == nil {
		return nil
	}
	return s.maySplit(d.Split, d.Name)
}

// relate lets the policy of a new core take what it has in common with the others.
func (s *Service) relate(c *Core) {
	p, ok := c.policy.(Relative)
	for k := 0; ok && k < len(s.revisions); k++ {
		if p.Relate(s.revisions[k].core.policy) {
			return
		}
	}
}

// maySplit checks a split. Fresh is the name of a revision that is about to exist.
func (s *Service) maySplit(split Split, fresh string) error {
	if err := split.Validate(); err != nil {
		return err
	}
	for _, share := range split {
		if share.Revision == Latest || share.Revision == fresh {
			continue
		}
		if rev := s.find(share.Revision); rev == 0 || s.revisions[rev-1].state != serving {
			return fmt.Errorf("%w %q: no revision %q serves", ErrSplit, split, share.Revision)
		}
	}
	return nil
}

// Shift changes the split. Revisions that gain get the instances that their share needs first, and the split changes when
// they are ready; if they are, at once. Errors wrap ErrShifting or ErrSplit.
func (s *Service) Shift(dst []Order, now clock.Instant, split Split) ([]Order, error) {
	if s.move != nil {
		return dst, fmt.Errorf("%w, to %q: ask again when it has", ErrShifting, s.move.split)
	}
	if err := s.maySplit(split, ""); err != nil {
		return dst, err
	}
	s.begin(now, 0, split)
	return s.shiftIfReady(dst, now), nil
}

// Remove takes a revision that has no traffic out of the service. Its requests end as they would have; then it is retired.
// The error wraps ErrRevision.
func (s *Service) Remove(dst []Order, now clock.Instant, name string) ([]Order, error) {
	rev := s.find(name)
	switch {
	case rev == 0 || s.revisions[rev-1].state != serving:
		return dst, fmt.Errorf("%w: no revision %q serves", ErrRevision, name)
	case s.wheel.percent(rev) > 0 || s.latest == rev && s.split.has(Latest):
		return dst, fmt.Errorf("%w: %q stands in the split %q: shift its traffic first", ErrRevision, name, s.split)
	case s.move != nil:
		return dst, fmt.Errorf("%w: %q cannot be removed while traffic is about to move to %q", ErrRevision, name, s.move.split)
	}
	s.revisions[rev-1].state = leaving
	return s.leave(dst, now, rev), nil
}

// Configure changes the limits that a revision has by itself. It panics if limits.Validate fails.
func (s *Service) Configure(dst []Order, rev RevisionID, limits Config) []Order {
	if err := limits.Validate(); err != nil {
		panic(err)
	}
	s.revisions[rev-1].own = limits.withDefaults()
	return s.settle(dst)
}

// Route returns the revision that the next arrival goes to. Arrivals without a key take turns; those with one always go
// to the same revision while the split stays (CR-30, U-22).
func (s *Service) Route(key string) RevisionID {
	switch {
	case len(s.revisions) == 1:
		return 1
	case key == "":
		return s.wheel.turn()
	default:
		return s.wheel.of(key)
	}
}

// Notices appends what has happened since the last call.
func (s *Service) Notices(dst []record.Notice) []record.Notice {
	dst = append(dst, s.notices...)
	s.notices = s.notices[:0]
	return dst
}

func (s *Service) tell(n record.Notice) { s.notices = append(s.notices, n) }

// find returns the revision of that name, or 0.
func (s *Service) find(name string) RevisionID {
	for k, r := range s.revisions {
		if r.name == name {
			return RevisionID(k + 1)
		}
	}
	return 0
}

// Revision is a snapshot of one revision, for those who watch.
type Revision struct {
	ID      RevisionID
	Name    string
	Percent int    // of the traffic
	Latest  bool   // it is what Latest stands for
	State   string // "serving", "leaving", "retired", "gone"
	Need    int    // instances that it gets before traffic moves to it, or keeps for a while after; 0: none
	Limits  Config // that were asked for
	InForce Config // that its core has
	Load    Load
}

var lifeNames = [...]string{"serving", "leaving", "retired", "gone"}

// Revisions returns a snapshot of each revision, in order of id, those that are gone included.
func (s *Service) Revisions() []Revision {
	out := make([]Revision, 0, len(s.revisions))
	for k, r := range s.revisions {
		id := RevisionID(k + 1)
		out = append(out, Revision{
			ID: id, Name: r.name, Percent: s.wheel.percent(id), Latest: id == s.latest, State: lifeNames[r.state], Need: r.floor,
			Limits: r.own, InForce: r.inForce, Load: r.core.Load(),
		})
	}
	return out
}

// Split returns the split in force, and the one that is about to come, or nil.
func (s *Service) Split() (inForce, coming Split) {
	if s.move != nil {
		coming = s.move.split
	}
	return s.split, coming
}

// seedOf makes the family of draws that keys are routed by.
func (s *Service) seedOf() rng.Key { return rng.NewKey(s.o.Seed, "split") }
