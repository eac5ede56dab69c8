package references

import "coldwave/internal/clock"

// Event is a turn of a run in virtual time that no record of a request tells.
type Event struct {
	At       clock.Instant
	What     What
	Instance int32  // of Start, Stop, Mark and Limit
	Text     string // Start: its reason; Mark: its name
	Count    int    // Alive and Present: instances from now on; Limit: requests that it may have in flight
}

// What an event tells.
type What uint8

// The turns that events tell.
const (
	Start   What = iota // an instance was started
	Stop                // it was stopped
	Mark                // it was marked
	Alive               // the number of instances that start or serve changed
	Present             // the number of instances that start, serve or drain changed
	Limit               // the limit of an instance changed
)
