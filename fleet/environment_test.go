package fleet_test

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"coldwave/fleet"
	"coldwave/internal/clock"
	"coldwave/internal/realclock"
)

func TestParseListening(t *testing.T) {
	rows := []struct{ name, line, want string }{
		{"as a worker prints it", "listening 127.0.0.1:43210", "127.0.0.1:43210"},
		{"IPv6", "listening [::1]:80", "[::1]:80"},
		{"a line end of another system", "listening 127.0.0.1:80\r", "127.0.0.1:80"},
		{"no port", "listening 127.0.0.1", ""},
		{"port 0 is none", "listening 127.0.0.1:0", ""},
		{"a port too high", "listening 127.0.0.1:65536", ""},
		{"a name could lead anywhere", "listening localhost:80", ""},
		{"every address", "listening 0.0.0.0:80", ""},
		{"another host", "listening 169.254.169.254:80", ""},
		{"something behind it", "listening 127.0.0.1:80 x", ""},
		{"another word", "serving 127.0.0.1:80", ""},
		{"nothing", "", ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			got, err := fleet.ParseListening(row.line)
			if got != row.want || (err == nil) != (row.want != "") {
				t.Errorf("ParseListening(%q) = %q, %v; want %q", row.line, got, err, row.want)
			}
		})
	}
}

func FuzzParseListening(f *testing.F) {
	for _, s := range []string{"listening 127.0.0.1:1", "listening [::1]:1", "listening [::ffff:127.0.0.1]:1", "listening [::1%lo]:1", "listening 10.0.0.1:1", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got, err := fleet.ParseListening(line)
		if err != nil {
			if got != "" {
				t.Errorf("ParseListening(%q) = %q beside an error", line, got)
			}
			return
		}
		addr, parseErr := netip.ParseAddrPort(got)
		if parseErr != nil || !addr.Addr().Unmap().IsLoopback() || addr.Port() == 0 {
			t.Errorf("ParseListening(%q) = %q, want a loopback address and a port", line, got)
		}
		if again, err := fleet.ParseListening(fleet.Listening(got)); err != nil || again != got {
			t.Errorf("round trip of %q = %q, %v", got, again, err)
		}
	})
}

// An instant goes to another process and comes back a little later, never earlier: an instance must not be ready before
// its time.
func TestBootInstant(t *testing.T) {
	here, there := realclock.New(time.Now()), realclock.New(time.Now().Add(-time.Hour))
	for _, at := range []clock.Instant{here.Now(), here.Now() - 1e9, here.Now() + 1e9} {
		got, err := fleet.BootInstant(there, fleet.BootEnv(here, at))
		if err != nil {
			t.Fatalf("BootInstant error %v", err)
		}
		// Read in the order in which it cannot come out too long.
		early := there.Now().Sub(got) - here.Now().Sub(at)
		if early > 0 {
			t.Errorf("the instant came back %v early", early)
		}
	}
}

func TestBootInstantRefuses(t *testing.T) {
	c := realclock.New(time.Now())
	now := fleet.Monotonic()
	for _, text := range []string{"", "x", "1e9", strconv.FormatInt(now+2*int64(time.Hour), 10), strconv.FormatInt(now-2*int64(time.Hour), 10), "99999999999999999999"} {
		if got, err := fleet.BootInstant(c, text); err == nil || !strings.Contains(err.Error(), fleet.EnvBoot) {
			t.Errorf("BootInstant(%q) = %v, %v; want an error that names %s", text, got, err, fleet.EnvBoot)
		}
	}
}

func TestStateNames(t *testing.T) {
	var got []string
	for s := range fleet.Lost + 2 {
		got = append(got, s.String())
	}
	if want := "[starting ready stopping stopped failed lost invalid]"; fmt.Sprint(got) != want {
		t.Errorf("names = %v, want %v", got, want)
	}
}
