package reports

import (
	"bytes"
	"testing"
)

// The picture of the front is drawn with all its marks, and what is told of a mark under the pointer belongs to it.
func TestBrowserDrawsTheFront(t *testing.T) {
	s := fixtureSweep(8)
	b := open(t, string(rendered(t, func(b *bytes.Buffer) error { return SweepHTML(b, s) })))
	if got, want := eval[int](b, `document.querySelectorAll(".drawing .tip").length`), len(s.Standings.All); got != want {
		t.Errorf("%d marks, want %d", got, want)
	}
	if got := eval[string](b, `document.querySelector(".drawing .mark-best + .tip title").textContent`); got != "oracle (best possible): p99 123 ms, 61.1 instance-seconds: medians over 8 seeds" {
		t.Errorf("the first mark says %q", got)
	}
	// Names lie in the picture and not on each other, as the browser measures them.
	if got := eval[int](b, `(() => {
		const frame = document.querySelector(".drawing").getBoundingClientRect();
		const boxes = [...document.querySelectorAll(".drawing text.label")].map(e => e.getBoundingClientRect());
		const meet = (a, b) => a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
		return boxes.filter((a, i) => a.left < frame.left || a.right > frame.right || boxes.some((b, k) => k > i && meet(a, b))).length;
	})()`); got != 0 {
		t.Errorf("%d names leave the picture or lie on others", got)
	}
	b.check()
}
