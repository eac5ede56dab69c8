package platform

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestSettings: each setting changes its part of the profile and no other.
func TestSettings(t *testing.T) {
	for _, c := range []struct {
		name, text string
		change     func(*Profile)
	}{
		{"exec", "20ms", func(p *Profile) { p.Body, p.Function.Body = Constant(20*ms), 20*ms }},
		{"exec", "exponential:50ms", func(p *Profile) { p.Body, p.Function.Body = Exponential(50*ms), 50*ms }},
		{"concurrency", "80", func(p *Profile) { p.Function.Concurrency = 80 }},
		{"cpus", "0.5", func(p *Profile) { p.Resources.MilliCPUs = 500 }},
		{"cpus", "2500m", func(p *Profile) { p.Resources.MilliCPUs = 2500 }},
		{"cpu", "50ms", func(p *Profile) { p.CPU.Law = Constant(50 * ms) }},
		{"cpu", "uniform:5ms-20ms", func(p *Profile) { p.CPU.Law = Uniform{5 * ms, 20 * ms} }},
		{"cpu", "12.5%", func(p *Profile) { p.CPU.Share = 125 }},
		{"cpu", "none", func(*Profile) {}},
		{"threads", "4", func(p *Profile) { p.Resources.Threads = 4 }},
		{"process-threads", "1", func(p *Profile) { p.Resources.Process = 1 }},
		{"sidecar-cpus", "1", func(p *Profile) { p.Resources.Sidecar = 1000 }},
		{"background", "0.1", func(p *Profile) { p.Resources.Background.Milli = 100 }},
		{"background-peak", "0.5:2s/30s", func(p *Profile) {
			p.Resources.Background = Background{Peak: 500, Every: 30 * time.Second, For: 2 * time.Second}
		}},
		{"memory", "512Mi", func(p *Profile) { p.Resources.Memory.Limit, p.Function.MemoryBytes = 512<<20, 512<<20 }},
		{"memory-base", "3GB", func(p *Profile) { p.Resources.Memory.Base = 3e9 }},
		{"memory-request", "65536", func(p *Profile) { p.Resources.Memory.Request = 65536 }},
		{"backing-connections", "100", func(p *Profile) { p.Backing.Connections = 100 }},
		{"backing-per-instance", "5", func(p *Profile) { p.Backing.PerInstance = 5 }},
		{"backing-quota", "500", func(p *Profile) { p.Backing.Quota = 500 }},
		{"backing-full", "wait", func(p *Profile) { p.Backing.Waits = true }},
		{"backing-full", "fail", func(*Profile) {}},
	} {
		got, want := Default(), Default()
		c.change(&want)
		if err := got.Set(c.name, c.text); err != nil {
			t.Errorf("%s=%s: %v", c.name, c.text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s=%s (-want +got):\n%s", c.name, c.text, diff)
		}
		again := Default()
		for _, s := range Settings() { // what a profile says of itself makes the same profile
			if text := got.Get(s.Name); text != "" {
				if err := again.Set(s.Name, text); err != nil {
					t.Errorf("%s=%s: %v", s.Name, text, err)
				}
			}
		}
		if diff := cmp.Diff(got, again); diff != "" {
			t.Errorf("%s=%s, read back (-want +got):\n%s", c.name, c.text, diff)
		}
	}
	if got := (&Profile{}).Get("no such"); got != "" {
		t.Errorf("an unknown setting is %q, want nothing", got)
	}
}

// TestSettingsTogether: a peak keeps the constant background, whichever comes first.
func TestSettingsTogether(t *testing.T) {
	want := Background{Milli: 100, Peak: 500, Every: 30 * time.Second, For: 2 * time.Second}
	for _, order := range [][]string{{"background", "background-peak"}, {"background-peak", "background"}} {
		p := Default()
		for _, name := range order {
			if err := p.Set(name, map[string]string{"background": "0.1", "background-peak": "0.5:2s/30s"}[name]); err != nil {
				t.Fatal(err)
			}
		}
		if p.Resources.Background != want {
			t.Errorf("%v: %+v, want %+v", order, p.Resources.Background, want)
		}
	}
}

func TestSettingsRefuse(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"cpuss", "1", `no such platform setting "cpuss", did you mean "cpus"?`},
		{"exec", "fast", `law "fast": no such law: the laws are uniform, documented, constant, lognormal, exponential, empirical; or give a duration such as 50ms`},
		{"concurrency", "0", `no such amount: "0": give a whole number from 1 to 65536`},
		{"cpus", "two", `no such amount: "two" CPUs: write them as in 2, 0.5 or 500m, at most 1048`},
		{"cpus", "0.0001", `no such amount: "0.0001" CPUs: write them as in 2, 0.5 or 500m, at most 1048`},
		{"cpus", "-1", `no such amount: "-1" CPUs: write them as in 2, 0.5 or 500m, at most 1048`},
		{"cpus", "9999", `no such amount: "9999" CPUs: write them as in 2, 0.5 or 500m, at most 1048`},
		{"cpu", "x%", `CPU time "x%": no such law: write a share as in 60% or 12.5%, at most 102400%`},
		{"cpu", "much", `CPU time: law "much": no such law: the laws are uniform, documented, constant, lognormal, exponential, empirical; or give a duration such as 50ms, or a share such as 60%`},
		{"memory", "512Mb", `no such amount: memory "512Mb": write it as in 512Mi, 3GB or 65536, at most 1125899906842624 bytes`},
		{"memory", "9999999GiB", `no such amount: memory "9999999GiB": write it as in 512Mi, 3GB or 65536, at most 1125899906842624 bytes`},
		{"backing-full", "drop", `no such amount: "drop": give fail or wait`},
		{"backing-quota", "-1", `no such amount: "-1": give a whole number from 0 to 1073741824`},
		{"background-peak", "0.5:2s", `no such amount: peak "0.5:2s": write it as in 0.5:2s/30s, half a CPU for 2s every 30s`},
		{"background-peak", "0.5:30s/2s", `no such amount: peak "0.5:30s/2s": write it as in 0.5:2s/30s, half a CPU for 2s every 30s`},
		{"background-peak", "x:1s/2s", `peak "x:1s/2s": no such amount: "x" CPUs: write them as in 2, 0.5 or 500m, at most 1048`},
	} {
		p := Default()
		if err := p.Set(c.name, c.text); err == nil || err.Error() != c.want {
			t.Errorf("%s=%s: %v, want %s", c.name, c.text, err, c.want)
		}
	}
}

// TestProfileOfCPU: what does not fit together is found.
func TestProfileOfCPU(t *testing.T) {
	set := func(pairs ...string) Profile {
		p := Default()
		for k := 0; k < len(pairs); k += 2 {
			if err := p.Set(pairs[k], pairs[k+1]); err != nil {
				t.Fatal(err)
			}
		}
		return p
	}
	for _, p := range []Profile{
		set("cpu", "50ms"), set("cpus", "1", "background", "1"), set("sidecar-cpus", "1"),
		set("memory", "1GB", "memory-base", "2GB"), set("cpus", "1", "cpu", "exponential:1000h"),
	} {
		if err := p.Check(); !errors.Is(err, ErrProfile) {
			t.Errorf("%+v %+v: Check = %v, want ErrProfile", p.CPU, p.Resources, err)
		}
	}
	if err := set("cpus", "1", "cpu", "50ms", "concurrency", "80").Check(); err != nil {
		t.Errorf("1 CPU and 50 ms: %v, want none", err)
	}
}

// TestDemandOfCPU: CPU time is drawn by itself, and what does not fit in the execution time makes that longer.
func TestDemandOfCPU(t *testing.T) {
	p := Default()
	plain := p.Draws(7).Demand(3)
	for _, c := range []struct {
		cpu       Cost
		threads   int
		exec, use time.Duration
	}{
		{Cost{Law: Constant(50 * ms)}, 1, 100 * ms, 50 * ms},
		{Cost{Law: Constant(250 * ms)}, 1, 250 * ms, 250 * ms},
		{Cost{Law: Constant(250 * ms)}, 4, 100 * ms, 250 * ms},
		{Cost{Share: 125}, 1, 100 * ms, 12500 * time.Microsecond},
		{Cost{Share: 3000}, 2, 150 * ms, 300 * ms},
	} {
		p.CPU, p.Resources = c.cpu, Resources{MilliCPUs: 1000, Threads: c.threads}
		want := plain
		want.Exec, want.CPU = c.exec, c.use
		if got := p.Draws(7).Demand(3); got != want {
			t.Errorf("%v on %d threads: %v, want %v", c.cpu, c.threads, got, want)
		}
	}
}

// FuzzParseCost: what is read passes its check or says why not in one line, and reads back from its text.
func FuzzParseCost(f *testing.F) {
	for _, s := range []string{"50ms", "60%", "12.5%", "none", "exponential:5ms", "102400%", "-1ms"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCost(text)
		if err != nil {
			if !errors.Is(err, ErrLaw) || strings.Contains(err.Error(), "\n") {
				t.Errorf("ParseCost(%q) = %q, want one line that wraps ErrLaw", text, err)
			}
			return
		}
		again, err := ParseCost(c.String())
		if diff := cmp.Diff(c, again); err != nil || diff != "" {
			t.Errorf("ParseCost(%q) = %v:\n%s", c.String(), err, diff)
		}
	})
}

// FuzzQuantities: amounts are within their bounds, and CPUs read back from their text.
func FuzzQuantities(f *testing.F) {
	for _, s := range []string{"2", "0.5", "500m", "512Mi", "3GB", "0.5:2s/30s", ".", "1.", "m", "-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := ParseCPUs(text); err == nil {
			if again, err := ParseCPUs(FormatCPUs(n)); err != nil || again != n || outside(n, MaxMilliCPUs) {
				t.Errorf("ParseCPUs(%q) = %d, again %d, %v", text, n, again, err)
			}
		}
		if n, err := ParseMemory(text); err == nil && outside(n, MaxMemory) {
			t.Errorf("ParseMemory(%q) = %d", text, n)
		}
		if b, err := ParsePeak(text); err == nil {
			if b.Every <= maxPeriod && (Resources{Background: b}).Check() != nil {
				t.Errorf("ParsePeak(%q) = %+v, which no check passes", text, b)
			}
		}
	})
}
