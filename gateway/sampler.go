package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
)

// sampler asks the ready instances of a service for their load at each full second, and posts what they used. It works only
// for a policy that wants samples. An instance that does not tell its CPU use is not asked again.
type sampler struct {
	service   *service
	transport http.RoundTripper
	slots     chan struct{} // questions under way

	mu     sync.Mutex
	before map[scheduler.InstanceID]*sampled
}

// sampled is what is known of an instance from asking it.
type sampled struct {
	load  platform.Load // at the last answer
	asked bool          // an answer is awaited
	mute  bool          // it does not tell
}

// sampleSlots bounds the questions that one service has under way, and sampleTime how long an answer may take: what comes
// later belongs to the next sample.
const (
	sampleSlots = 64
	sampleTime  = 900 * time.Millisecond
)

func newSampler(s *service, t http.RoundTripper) *sampler {
	return &sampler{service: s, transport: t, slots: make(chan struct{}, sampleSlots), before: map[scheduler.InstanceID]*sampled{}}
}

// run samples until ctx is done, and returns when the last question has an end.
func (p *sampler) run(ctx context.Context) {
	const every = clock.Instant(platform.SampleEvery)
	var asking sync.WaitGroup
	defer asking.Wait()
	for {
		now := p.service.clock.Now()
		if p.service.clock.WaitUntil(ctx, floor(now, every)+every) != nil {
			return
		}
		for _, in := range p.due() {
			select {
			case p.slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			asking.Go(func() {
				defer func() { <-p.slots }()
				p.ask(ctx, in)
			})
		}
	}
}

// floor is the last multiple of every that does not lie after t.
func floor(t, every clock.Instant) clock.Instant {
	over := t % every
	if over < 0 {
		over += every
	}
	return t - over
}

// due returns the ready instances that are to be asked, and forgets those that have ended.
func (p *sampler) due() []ready {
	all := p.service.lives.serving()
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := make(map[scheduler.InstanceID]*sampled, len(all))
	due := all[:0]
	for _, in := range all {
		s := p.before[in.id]
		if s == nil {
			s = &sampled{}
		}
		kept[in.id] = s
		if !s.asked && !s.mute {
			s.asked = true
			due = append(due, in)
		}
	}
	p.before = kept
	return due
}

// ready is an instance that serves.
type ready struct {
	id   scheduler.InstanceID
	addr string
}

// errMute is the answer of an instance that does not know its CPU use.
var errMute = errors.New("the instance does not tell its CPU use")

// ask takes one sample.
func (p *sampler) ask(ctx context.Context, in ready) {
	ctx, cancel := context.WithTimeout(ctx, sampleTime)
	defer cancel()
	l, err := p.fetch(ctx, in.addr)
	p.mu.Lock()
	s := p.before[in.id]
	if s == nil {
		p.mu.Unlock()
		return // it has ended meanwhile
	}
	s.asked = false
	if s.mute = errors.Is(err, errMute); err != nil {
		p.mu.Unlock()
		p.service.log.Debug("no sample", "instance", in.id, "error", err)
		return
	}
	now := platform.Load{At: clock.Instant(l.Age), CPU: time.Duration(*l.CPU)}
	if now.At <= s.load.At {
		p.mu.Unlock()
		return // it became ready just now
	}
	used := now.MilliCPUs(s.load)
	s.load = now
	p.mu.Unlock()
	p.service.sampled(in.id, used, l)
}

// fetch asks an instance.
func (p *sampler) fetch(ctx context.Context, addr string) (record.Load, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+record.LoadPath, nil)
	if err != nil {
		return record.Load{}, err
	}
	res, err := p.transport.RoundTrip(r)
	if err != nil {
		return record.Load{}, err
	}
	defer res.Body.Close() //nolint:errcheck // it was read to its end, or is of no use
	text, err := io.ReadAll(io.LimitReader(res.Body, record.LoadBytes+1))
	if err != nil {
		return record.Load{}, err
	}
	if res.StatusCode != http.StatusOK {
		return record.Load{}, fmt.Errorf("%w: status %d", errMute, res.StatusCode)
	}
	l, err := record.ParseLoad(text)
	switch {
	case err != nil:
		return l, fmt.Errorf("%w: %w", errMute, err)
	case l.CPU == nil:
		return l, errMute
	}
	return l, nil
}

// sampled posts a sample. One of an instance that is on its way out is dropped.
func (s *service) sampled(id scheduler.InstanceID, used int64, l record.Load) {
	s.loop.Post(Message{Event: scheduler.Event{Kind: scheduler.Sample, Inst: id, Value: used},
		Admit: func(clock.Instant, *scheduler.Event) bool {
			if !s.core.Up(id) {
				return false
			}
			s.lives.change(id, func(in *life) { in.CPU, in.Memory = time.Duration(*l.CPU), l.MemoryPeak })
			return true
		}})
}
