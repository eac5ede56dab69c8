package reports

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"coldwave/analysis"
	"coldwave/internal/clock"
)

var chromiumNames = []string{"chromium", "chromium-browser", "google-chrome", "headless-shell"}

// A browser shows one page from disk and notes everything that must not happen.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	requests []string
	errors   []string
}

func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range chromiumNames {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium here: apt-get install chromium")
	return ""
}

func open(t *testing.T, page string) *browser {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.WindowSize(1280, 900),
		chromedp.UserDataDir(t.TempDir()))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	limited, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(stop)
	allocated, stop := chromedp.NewExecAllocator(limited, options...)
	t.Cleanup(stop)
	ctx, stop := chromedp.NewContext(allocated)
	t.Cleanup(stop)
	b := &browser{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	address := (&url.URL{Scheme: "file", Path: file}).String()
	b.do(chromedp.Navigate(address))
	b.until(`"charts" in document.documentElement.dataset`)
	return b
}

func (b *browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *log.EventEntryAdded:
		b.errors = append(b.errors, e.Entry.Text)
	case *runtime.EventExceptionThrown:
		b.errors = append(b.errors, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.errors = append(b.errors, string(e.Type))
	}
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// until waits until an expression of the page is true.
func (b *browser) until(expression string) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Poll[bool](expression)); err != nil {
		b.t.Fatalf("waiting for %s: %v", expression, err)
	}
}

// eval returns the value of an expression of the page.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// check fails if the page asked for anything but itself, or complained.
func (b *browser) check() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.requests) != 1 || !strings.HasPrefix(b.requests[0], "file://") {
		b.t.Errorf("requests = %q, want the file alone", b.requests)
	}
	if len(b.errors) > 0 {
		b.t.Errorf("errors of the page: %q", b.errors)
	}
}

// ink counts, for each scatter chart, the pixels that have a colour: axes and labels are grey, requests are not.
const ink = `[...document.querySelectorAll(".chart canvas")].map((c) => {
	const p = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
	let n = 0;
	for (let i = 0; i < p.length; i += 4) if (p[i + 3] > 0 && Math.max(p[i], p[i + 1], p[i + 2]) - Math.min(p[i], p[i + 1], p[i + 2]) > 80) n++;
	return n;
})`

const drawn = `[...document.querySelectorAll(".chart")].map((c) => +c.dataset.drawn)`

func TestBrowserDrawsEveryRequest(t *testing.T) {
	v := fixtureVerification()
	b := open(t, verificationHTML(t, v))
	got := eval[[]int](b, drawn)
	colours := eval[[]int](b, ink)
	if len(got) != len(v.Runs) || len(colours) != len(v.Runs) {
		t.Fatalf("%d charts with %d canvases, want %d", len(got), len(colours), len(v.Runs))
	}
	for i := range v.Runs {
		if want := len(v.Runs[i].Records); got[i] != want {
			t.Errorf("chart %d has drawn %d requests, want %d", i+1, got[i], want)
		}
		if colours[i] < 200 {
			t.Errorf("chart %d has %d coloured pixels, want hundreds", i+1, colours[i])
		}
	}
	b.check()
}

func TestBrowserZoomsBothSidesOfAPattern(t *testing.T) {
	b := open(t, verificationHTML(t, fixtureVerification()))
	b.do(chromedp.Focus(chromedp.CSS("#figure-1 .chart")), chromedp.KeyEvent("+"))
	b.until(`document.querySelectorAll(".chart")[1].dataset.drawn < 63`)
	if got := eval[[]int](b, drawn); got[0] >= 63 || got[0] != got[1] || got[2] != 32 {
		t.Errorf("after zooming into the first chart, drawn = %v; want fewer in both of its pattern and all of the other", got)
	}
	b.do(chromedp.KeyEvent(kb.Escape))
	b.until(`document.querySelectorAll(".chart")[1].dataset.drawn == 63`)
	b.check()
}

func TestBrowserIsWorkedByKeys(t *testing.T) {
	b := open(t, verificationHTML(t, fixtureVerification()))
	b.do(chromedp.Focus(chromedp.CSS("#figure-2 .chart")), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	if got := eval[string](b, `document.querySelector("#figure-2 .readout").textContent`); !strings.HasPrefix(got, "request 1: warm, ") {
		t.Errorf("after two steps to the right the page says %q, want request 1", got)
	}
	b.check()
}

// A run of five seconds with three requests shows its three points.
func TestBrowserDrawsAVeryShortRun(t *testing.T) {
	s := fixtureSingle()
	s.Run.Records, s.Run.Instances = s.Run.Records[:3], s.Run.Instances[:2]
	s.Run.Schedule.Length = 5 * time.Second
	s.Run.Schedule.Arrivals = s.Run.Schedule.Arrivals[:3]
	s.Run.Records[2].Intended = clock.Instant(4 * time.Second)
	s.Run.Summary = analysis.Summarize(analysis.Input{Schedule: s.Run.Schedule, Records: s.Run.Records, Instances: s.Run.Instances})
	b := open(t, singleHTML(t, s))
	if got := eval[[]int](b, drawn); len(got) != 1 || got[0] != 3 {
		t.Errorf("drawn = %v, want [3]", got)
	}
	b.check()
}

func TestBrowserShowsARunWithoutRequests(t *testing.T) {
	b := open(t, singleHTML(t, Single{}))
	if got := eval[[]int](b, drawn); len(got) != 1 || got[0] != 0 {
		t.Errorf("drawn = %v, want [0]", got)
	}
	b.check()
}

// F26 in a real browser: nothing of the data runs, and the page stays whole.
func TestBrowserRunsNothingOfTheData(t *testing.T) {
	b := open(t, verificationHTML(t, poisoned(strings.Join(hostile, " "))))
	if eval[bool](b, `"pwned" in window`) {
		t.Error("a text of the data ran")
	}
	if got := eval[int](b, `document.querySelectorAll("footer").length`); got != 1 {
		t.Errorf("%d footers, want 1", got)
	}
	b.check()
}
