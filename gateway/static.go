package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// Static is a Provisioner for HTTP servers that somebody else runs: each address is one instance that is always ready.
// Nothing is started or stopped, so nothing is ever lost.
type Static struct{ Addrs []string }

var _ Provisioner = Static{}

// errNoAddress says that there are more instances than addresses.
var errNoAddress = errors.New("no address is left")

// Start returns the address of the instance.
func (s Static) Start(_ context.Context, r StartRequest) (string, error) {
	if len(s.Addrs) == 0 {
		return "", errNoAddress
	}
	return s.Addrs[int(r.Instance-1)%len(s.Addrs)], nil
}

// Stop does nothing.
func (Static) Stop(context.Context, scheduler.InstanceID, time.Duration) error { return nil }

// Lost never tells of anything.
func (Static) Lost() <-chan Loss { return nil }

// ErrStaticURL is wrapped by the errors of ParseStatic.
var ErrStaticURL = errors.New("bad address of a worker")

// ParseStatic reads the URL of an HTTP server, such as http://127.0.0.1:9000, and returns its host:port. Only plain
// HTTP at the root is taken: a path in front would change what is passed on.
func ParseStatic(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || u.Hostname() == "" {
		return "", fmt.Errorf("%w %.80q: want http://HOST:PORT", ErrStaticURL, text)
	}
	if (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.User != nil {
		return "", fmt.Errorf("%w %.80q: only http://HOST:PORT without a path, query or user", ErrStaticURL, u.Redacted())
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("%w %.80q: port %q: want 1 to 65535", ErrStaticURL, text, port)
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

// Loopback says whether host:port names this host without asking anybody. The address that a name leads to is checked
// again when it is connected to.
func Loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && isLoopback(host)
}

// Fixed is the policy for always-ready instances: Min of them are kept and no more, a request goes to the one with the
// fewest in flight, and waits if all slots are taken.
type Fixed struct {
	Wait time.Duration // a request that has waited so long is answered with 503; 0: no limit
}

var _ scheduler.Policy = Fixed{}

// tickRefill starts again what could not be started.
const tickRefill uint8 = 1

// refillTime is how long after a failure.
const refillTime = time.Second

// statusUnavailable is what a request gets that waited too long.
const statusUnavailable = 503

// Handle decides.
func (p Fixed) Handle(c *scheduler.Control, ev scheduler.Event) {
	switch ev.Kind {
	case scheduler.Configure:
		c.Shrink()
		p.fill(c)
	case scheduler.Tick:
		p.fill(c)
	case scheduler.Failed:
		c.Alarm(tickRefill, c.Now().Add(refillTime))
	case scheduler.Done, scheduler.Ready:
		p.serve(c)
	case scheduler.Timer:
		c.Reject(ev.Req, statusUnavailable)
	case scheduler.Arrival:
		if i := least(c); i != 0 {
			c.Assign(ev.Req, i)
			return
		}
		c.Queue(ev.Req, p.deadline(c))
	default:
	}
}

func (p Fixed) deadline(c *scheduler.Control) clock.Instant {
	if p.Wait == 0 {
		return clock.Never
	}
	return c.Now().Add(p.Wait)
}

func (p Fixed) fill(c *scheduler.Control) {
	for c.Alive() < c.Config().Min {
		c.Start(0, 0)
	}
}

func (p Fixed) serve(c *scheduler.Control) {
	for c.Waiting() > 0 {
		i := least(c)
		if i == 0 {
			return
		}
		c.Assign(c.Front(), i)
	}
}

// least is the ready instance with the fewest requests and a free slot, the first of equals; 0 if there is none. The
// time is linear in the number of instances, which is that of flags on a command line.
func least(c *scheduler.Control) scheduler.InstanceID {
	best, fewest := scheduler.InstanceID(0), 0
	for i := c.FirstAlive(); i != 0; i = c.Next(i) {
		n := c.InFlight(i)
		if c.Up(i) && n < int(c.Limit(i)) && (best == 0 || n < fewest) {
			best, fewest = i, n
		}
	}
	return best
}
