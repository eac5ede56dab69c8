package engine

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"coldwave/internal/clock"
)

// Every spelling of a target, without an allow entry (R24, checklist 4.1). "" passes, "bad" is wrong input, anything
// else is part of the reason of the refusal.
func TestTargetSpellings(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ url, want string }{
		{"http://127.0.0.1:8080/", ""},
		{"http://127.0.0.1", ""},
		{"http://127.255.255.254:1/x?y=z#f", ""},
		{"HTTP://127.0.0.1:8080/", ""},
		{"https://localhost:8443", ""},
		{"http://LOCALHOST:80/", ""},
		{"http://localhost.:80/", ""},
		{"http://[::1]:8080/", ""},
		{"http://[0:0:0:0:0:0:0:1]:8080/", ""},
		{"http://[::ffff:127.0.0.1]:8080/", ""},
		{"http://[::ffff:7f00:1]:8080/", ""},
		{"http://user:secret@127.0.0.1:8080/", ""},

		{"http://8.8.8.8/", "not on this host"},
		{"http://10.0.0.1:8080/", "not on this host"},
		{"http://192.168.1.1:8080/", "not on this host"},
		{"http://128.0.0.1:8080/", "not on this host"},
		{"http://example.org/", "not on this host"},
		{"http://localhost.example.org/", "not on this host"},
		{"http://app.localhost:8080/", "not on this host"},
		{"http://127.0.0.1.nip.io:8080/", "not on this host"},
		{"http://127.0.0.1@example.org/", "not on this host"},
		{"http://localhost:80@example.org:80/", "not on this host"},
		{"http://example.org/#@127.0.0.1/", "not on this host"},
		{"http://example.org/?@127.0.0.1", "not on this host"},
		{"http://[::ffff:8.8.8.8]/", "not on this host"},
		{"http://[::ffff:808:808]/", "not on this host"},
		{"http://[2001:db8::1]:8080/", "not on this host"},
		{"http://[64:ff9b::7f00:1]/", "not on this host"},
		{"http://[::127.0.0.1]/", "not on this host"},
		{"http://１２７.0.0.1/", "shortened, octal, decimal"},
		{"http://ⅼocalhost/", "not on this host"},
		{"http://[::1%25lo]:8080/", "zone"},
		{"http://[fe80::1%25eth0]:8080/", "zone"},
		{"http://127.1/", "shortened, octal, decimal"},
		{"http://127.0.1:8080/", "shortened, octal, decimal"},
		{"http://2130706433/", "shortened, octal, decimal"},
		{"http://134744072/", "shortened, octal, decimal"},
		{"http://017700000001/", "shortened, octal, decimal"},
		{"http://0177.0.0.1/", "shortened, octal, decimal"},
		{"http://127.0.0.01/", "shortened, octal, decimal"},
		{"http://0x7f000001/", "shortened, octal, decimal"},
		{"http://0x7f.0.0.0x1/", "shortened, octal, decimal"},
		{"http://127.0.0.1.:8080/", "shortened, octal, decimal"},
		{"http://99999999999999999999/", "shortened, octal, decimal"},
		{"http://0/", "shortened, octal, decimal"},
		{"http://0.0.0.0:8080/", "every address of this host"},
		{"http://[::]:8080/", "every address of this host"},
		{"http://[::ffff:0.0.0.0]:8080/", "every address of this host"},
		{"http://169.254.169.254/latest/meta-data", "link-local or metadata"},
		{"http://[fe80::1]:8080/", "link-local or metadata"},
		{"http://[fd00:ec2::254]/", "link-local or metadata"},
		{"http://224.0.0.1/", "no address of one host"},
		{"http://255.255.255.255/", "no address of one host"},

		{"", "bad"},
		{"127.0.0.1:8080", "bad"},
		{"localhost:8080/x", "bad"},
		{"//127.0.0.1:8080/", "bad"},
		{"ftp://127.0.0.1/", "bad"},
		{"file:///etc/passwd", "bad"},
		{"unix:///run/x.sock", "bad"},
		{"http:///path", "bad"},
		{"http://:8080/", "bad"},
		{"http://127.0.0.1:/", "bad"},
		{"http://127.0.0.1:0/", "bad"},
		{"http://127.0.0.1:65536/", "bad"},
		{"http://127.0.0.1:080/", "bad"},
		{"http://127.0.0.1:http/", "bad"},
		{`http://127.0.0.1\@example.org/`, "bad"},
		{"http://127.0.0.1 /", "bad"},
		{"http://127.0.0.1\n:8080/", "bad"},
		{"http://[::1/", "bad"},
	} {
		for _, g := range []*Guard{nil, {}} {
			_, err := g.Target(row.url)
			checkVerdict(t, row.url, err, row.want)
		}
	}
}

func checkVerdict(t *testing.T, url string, err error, want string) {
	t.Helper()
	var refused *RefusedError
	switch {
	case want == "":
		if err != nil {
			t.Errorf("Target(%q) = %v, want no error", url, err)
		}
	case want == "bad":
		if !errors.Is(err, ErrTarget) {
			t.Errorf("Target(%q) = %v, want %v", url, err, ErrTarget)
		}
	case !errors.As(err, &refused):
		t.Errorf("Target(%q) = %v, want a refusal", url, err)
	case !strings.Contains(refused.Reason, want):
		t.Errorf("Target(%q) refused because %q, want %q", url, refused.Reason, want)
	}
}

func TestAllowedTargets(t *testing.T) {
	t.Parallel()
	g, err := NewGuard("Example.org:443", "10.1.2.3:8080", "[2001:DB8::1]:80", "169.254.169.254:80", "0.0.0.0:80", "2130706433:80")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ url, want string }{
		{"https://example.ORG/path", ""},
		{"http://10.1.2.3:8080/", ""},
		{"http://[2001:db8::1]/", ""},
		{"http://127.0.0.1:9/", ""},
		{"http://example.org/", "not on this host"},         // another port
		{"https://www.example.org/", "not on this host"},    // another name
		{"http://10.1.2.3:8081/", "not on this host"},       // another port
		{"http://169.254.169.254/", "link-local"},           // never, whatever is allowed
		{"http://0.0.0.0/", "every address of this host"},   // never
		{"http://2130706433/", "shortened, octal, decimal"}, // never
	} {
		_, err := g.Target(row.url)
		checkVerdict(t, row.url, err, row.want)
	}
	for _, entry := range []string{"", "example.org", ":80", "example.org:", "example.org:0", "example.org:https", "http://example.org:80", "*:*"} {
		if _, err := NewGuard(entry); !errors.Is(err, ErrTarget) {
			t.Errorf("NewGuard(%q) = %v, want %v", entry, err, ErrTarget)
		}
	}
}

// What a name resolved to decides, not the name: rebinding, names with several addresses, mapped forms.
func TestDialedAddress(t *testing.T) {
	t.Parallel()
	g, err := NewGuard("example.org:80", "10.1.2.3:80")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ url, dialed, want string }{
		{"http://localhost:80/", "127.0.0.1:80", ""},
		{"http://localhost:80/", "[::1]:80", ""},
		{"http://localhost:80/", "[::ffff:127.0.0.1]:80", ""},
		{"http://localhost:80/", "93.184.216.34:80", "not loopback"},
		{"http://localhost:80/", "[::ffff:8.8.8.8]:80", "not loopback"},
		{"http://localhost:80/", "0.0.0.0:80", "every address"},
		{"http://localhost:80/", "127.0.0.1:81", "port 81"},
		{"http://127.0.0.1:80/", "127.0.0.2:80", "dialed as 127.0.0.2"},
		{"http://127.0.0.1:80/", "10.0.0.1:80", "not loopback"},
		{"http://[::ffff:127.0.0.1]:80/", "127.0.0.1:80", ""},
		{"http://example.org/", "93.184.216.34:80", ""},
		{"http://example.org/", "[2606:2800::1]:80", ""},
		{"http://example.org/", "127.0.0.1:80", ""},
		{"http://example.org/", "169.254.169.254:80", "link-local"},
		{"http://example.org/", "[::ffff:169.254.169.254]:80", "link-local"},
		{"http://example.org/", "0.0.0.0:80", "every address"},
		{"http://example.org/", "[fd00:ec2::254]:80", "metadata"},
		{"http://example.org/", "93.184.216.34:8080", "port 8080"},
		{"http://10.1.2.3/", "10.1.2.4:80", "dialed as 10.1.2.4"},
		{"http://example.org/", "example.org:80", "no address"},
	} {
		target, err := g.Target(row.url)
		if err != nil {
			t.Fatal(err)
		}
		got := target.dialable(row.dialed)
		if (got == "") != (row.want == "") || !strings.Contains(got, row.want) {
			t.Errorf("%s dialed as %s: refused because %q, want %q", row.url, row.dialed, got, row.want)
		}
	}
}

// The check sits in the dialer that the sender uses: a target that changed its mind after the first look gets no packet.
func TestDialerRefuses(t *testing.T) {
	t.Parallel()
	target := target(t, "http://localhost:80/")
	target.address = "203.0.113.1:80" // what a rebound name would come to; no host has this address
	var refused *RefusedError
	if err := Reach(t.Context(), target); !errors.As(err, &refused) {
		t.Errorf("Reach = %v, want a refusal", err)
	}
	p := newPool(func() clock.Instant { return 0 }, nil)
	if _, err := p.open(t.Context(), target); !errors.As(err, &refused) {
		t.Errorf("open = %v, want a refusal", err)
	}
	if p.transport.Proxy != nil {
		t.Error("the transport has a proxy function, want none: the environment's proxies would see the load")
	}
}

func TestNoSecretsInTexts(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"http://user:hunter2@example.org/", "http://user:hunter2@127.0.0.1:0/", "http://user:hunter2@[::1/", "ftp://user:hunter2@x/",
		"user:hunter2@127.0.0.1:80",
	} {
		_, err := (*Guard)(nil).Target(url)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Target(%q) = %v, want an error without the password", url, err)
		}
	}
	got := target(t, "http://hunter2@127.0.0.1:9/x?a=b&api_key=hunter2&Session=hunter2&c=d").String()
	if want := "http://xxxxx@127.0.0.1:9/x?a=b&api_key=xxxxx&Session=xxxxx&c=d"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}

func TestReach(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	there := target(t, "http://"+l.Addr().String())
	if err := Reach(t.Context(), there); err != nil {
		t.Errorf("Reach(listening) = %v, want nil", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Reach(t.Context(), there); !errors.Is(err, ErrUnreachable) {
		t.Errorf("Reach(closed port) = %v, want %v", err, ErrUnreachable)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	if err := Reach(ctx, there); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Reach(ended context) = %v, want %v", err, context.DeadlineExceeded)
	}
}
