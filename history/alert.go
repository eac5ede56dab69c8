package history

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// AlertState is how far people have come with an alert.
type AlertState string

// The states of alerts. New and Acknowledged are open: a series has at most one open alert.
const (
	New          AlertState = "new"
	Acknowledged AlertState = "acknowledged" // somebody looks at it
	Expected     AlertState = "expected"     // the change was meant; the note says why
	Fixed        AlertState = "fixed"
)

// ErrTransition says that an alert cannot go from its state to the one asked for.
var ErrTransition = errors.New("no such change of state")

// ErrNote says that a change of state needs a note.
var ErrNote = errors.New("a note must say why")

// transitions are the changes of state that make sense. What comes back after it was closed is a new alert.
var transitions = map[AlertState][]AlertState{
	New:          {Acknowledged, Expected, Fixed},
	Acknowledged: {Acknowledged, Expected, Fixed}, // with a further note
}

// AlertStates lists the states in order.
func AlertStates() []AlertState { return []AlertState{New, Acknowledged, Expected, Fixed} }

// Alert is a change of level in a series.
type Alert struct {
	ID      string // eight hexadecimal digits, the same for the same change
	Series  string
	At      time.Time // of the first point at the new level, UTC
	Before  float64   // median ratio of the level before
	After   float64   // median ratio of the new level
	PValue  float64   // of the permutation test
	From    string    // build of the last point before
	To      string    // build of the first point after
	State   AlertState
	Note    string
	Opened  time.Time
	Changed time.Time
}

// AlertID names the change of a series at an instant.
func AlertID(series string, at time.Time) string {
	sum := sha256.Sum256([]byte(series + "\x00" + strconv.FormatInt(at.UnixNano(), 10)))
	return hex.EncodeToString(sum[:4])
}

// OpenAlert opens an alert in state New and fills in its ID. It returns false, and keeps what there is, if the series has
// an open alert or this very change was seen before.
func (s *Store) OpenAlert(ctx context.Context, a Alert) (bool, error) {
	opened := false
	err := s.do(ctx, func(t tx) error {
		var err error
		opened, err = affected(t.exec(ctx, `INSERT INTO alerts
			(id, series, at_ns, before, after, p_value, from_build, to_build, state, note, opened_ns, changed_ns)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			AlertID(a.Series, a.At), a.Series, a.At.UnixNano(), a.Before, a.After, a.PValue, a.From, a.To, string(New), a.Note,
			a.Opened.UnixNano(), a.Opened.UnixNano()))
		return err
	})
	return opened, err
}

const alertColumns = "id, series, at_ns, before, after, p_value, from_build, to_build, state, note, opened_ns, changed_ns"

// Alerts lists alerts, the latest opened first: the open ones, or all.
func (s *Store) Alerts(ctx context.Context, all bool) ([]Alert, error) {
	var out []Alert
	err := s.do(ctx, func(t tx) error {
		question := "SELECT " + alertColumns + " FROM alerts"
		if !all {
			question += " WHERE state IN ('new', 'acknowledged')"
		}
		return t.each(ctx, func(scan func(...any) error) error {
			a, err := scanAlert(scan)
			out = append(out, a)
			return err
		}, question+" ORDER BY opened_ns DESC, id")
	})
	return out, err
}

// SetAlert changes the state of an alert; the note is added to its notes. It returns ErrNotFound, ErrTransition, or
// ErrNote: what is Expected must say why.
func (s *Store) SetAlert(ctx context.Context, id string, to AlertState, note string, at time.Time) (Alert, error) {
	var a Alert
	err := s.do(ctx, func(t tx) error {
		var err error
		a, err = scanAlert(t.row(ctx, "SELECT "+alertColumns+" FROM alerts WHERE id = ?", id).Scan)
		switch {
		case isMissing(err):
			return fmt.Errorf("alert %q: %w", id, ErrNotFound)
		case err != nil:
			return err
		case !slices.Contains(transitions[a.State], to):
			return fmt.Errorf("alert %s is %s: %w to %s", id, a.State, ErrTransition, to)
		case to == Expected && strings.TrimSpace(note) == "":
			return fmt.Errorf("alert %s: %w the change is expected", id, ErrNote)
		}
		a.State, a.Changed = to, at.UTC()
		a.Note = strings.TrimPrefix(a.Note+"; "+note, "; ")
		a.Note = strings.TrimSuffix(a.Note, "; ")
		_, err = t.exec(ctx, "UPDATE alerts SET state = ?, note = ?, changed_ns = ? WHERE id = ?", string(to), a.Note, at.UnixNano(), id)
		return err
	})
	return a, err
}

func scanAlert(scan func(...any) error) (Alert, error) {
	var a Alert
	var at, opened, changed int64
	err := scan(&a.ID, &a.Series, &at, &a.Before, &a.After, &a.PValue, &a.From, &a.To, &a.State, &a.Note, &opened, &changed)
	a.At, a.Opened, a.Changed = time.Unix(0, at).UTC(), time.Unix(0, opened).UTC(), time.Unix(0, changed).UTC()
	return a, err
}
