package platform

import (
	"errors"
	"fmt"
	"strconv"

	"coldwave/internal/spell"
)

// ErrSetting is wrapped by Profile.Set's error for a setting that does not exist.
var ErrSetting = errors.New("no such platform setting")

// Setting is one part of a profile that a command line or a scenario can change, as text.
type Setting struct {
	Name  string
	Usage string // names the form of the value between backquotes, as command lines want it
	of    part
	set   func(p *Profile, text string) error
	get   func(p *Profile) string // empty: it is as without the setting
}

// part is what a setting is of.
type part uint8

const (
	ofRequests part = iota
	ofInstances
	ofBacking
)

// Settings lists them in the order in which they are shown.
func Settings() []Setting { return settings[:] }

// InstanceSettings lists those of Resources, and of the CPU time of a body: what a single worker can know.
func InstanceSettings() []Setting {
	var all []Setting
	for _, s := range settings {
		if s.of == ofInstances {
			all = append(all, s)
		}
	}
	return all
}

var settings = [...]Setting{
	{"exec", "execution time of a request where nothing lacks CPU: a `TIME`, or a law such as exponential:100ms", ofRequests, setExec,
		func(p *Profile) string { return p.Body.Name() }},
	{"concurrency", "`N` requests in flight on one instance", ofRequests, setConcurrency,
		func(p *Profile) string { return strconv.Itoa(p.Function.Concurrency) }},
	{"cpus", "`CPUS` of an instance: 2, 0.5, 500m. Bodies that compute share them; without it no CPU is ever lacked", ofInstances, setCPUs,
		func(p *Profile) string { return unlessZero(p.Resources.MilliCPUs, FormatCPUs) }},
	{"cpu", "CPU `TIME` of a body, the part of its execution time that is computed: 50ms, 60%, a law such as exponential:50ms", ofInstances, setCPU,
		func(p *Profile) string { return p.CPU.text() }},
	{"threads", "`N` CPUs that one body uses at once", ofInstances, setThreads,
		func(p *Profile) string { return unlessZero(int64(p.Resources.Threads), decimal) }},
	{"process-threads", "`N` CPUs that all bodies of an instance use at once, 1 for a runtime with one thread; 0: no limit", ofInstances, setProcess,
		func(p *Profile) string { return unlessZero(int64(p.Resources.Process), decimal) }},
	{"sidecar-cpus", "`CPUS` of the sidecars, which count as the instance's but serve no body (CR-10)", ofInstances, setSidecar,
		func(p *Profile) string { return unlessZero(p.Resources.Sidecar, FormatCPUs) }},
	{"background", "`CPUS` that an instance uses outside requests at all times", ofInstances, setBackground,
		func(p *Profile) string { return unlessZero(p.Resources.Background.Milli, FormatCPUs) }},
	{"background-peak", "`PEAK` of background work that comes again: 0.5:2s/30s is half a CPU for 2 s every 30 s of an instance's life", ofInstances, setPeak,
		func(p *Profile) string { return p.Resources.Background.peakText() }},
	{"memory", "`SIZE` of an instance's memory, as 512Mi or 1GB; one that needs more fails", ofInstances, setMemory,
		func(p *Profile) string { return unlessZero(p.Resources.Memory.Limit, decimal) }},
	{"memory-base", "`SIZE` of the memory of an instance without a request", ofInstances, setMemoryBase,
		func(p *Profile) string { return unlessZero(p.Resources.Memory.Base, decimal) }},
	{"memory-request", "`SIZE` of the memory of each request in flight", ofInstances, setMemoryRequest,
		func(p *Profile) string { return unlessZero(p.Resources.Memory.Request, decimal) }},
	{"backing-connections", "`N` connections of a service behind all instances, of which each ready one holds some; an instance that finds too few fails its requests", ofBacking, setConnections,
		func(p *Profile) string { return unlessZero(int64(p.Backing.Connections), decimal) }},
	{"backing-per-instance", "`N` of them that each ready instance holds (default 1)", ofBacking, setPerInstance,
		func(p *Profile) string { return unlessZero(int64(p.Backing.PerInstance), decimal) }},
	{"backing-quota", "`N` calls of that service in each second; a request makes one", ofBacking, setQuota,
		func(p *Profile) string { return unlessZero(int64(p.Backing.Quota), decimal) }},
	{"backing-full", "what a call beyond the quota does: `fail` (default) or wait for the next second with room", ofBacking, setFull,
		func(p *Profile) string { return map[bool]string{true: "wait"}[p.Backing.Waits] }},
}

// Set changes the setting of that name. The error says what is wrong with the text, and wraps ErrSetting if there is no
// such setting. Check finds what does not fit together.
func (p *Profile) Set(name, text string) error {
	names := make([]string, len(settings))
	for k, s := range settings {
		if s.Name == name {
			return s.set(p, text)
		}
		names[k] = s.Name
	}
	return fmt.Errorf("%w %q%s", ErrSetting, name, spell.Hint(name, names))
}

// Get returns the text of a setting of Settings, which Set reads back; empty if the profile is as without it.
func (p *Profile) Get(name string) string {
	for _, s := range settings {
		if s.Name == name {
			return s.get(p)
		}
	}
	return ""
}

func unlessZero(v int64, format func(int64) string) string {
	if v == 0 {
		return ""
	}
	return format(v)
}

func decimal(v int64) string { return strconv.FormatInt(v, 10) }

func setExec(p *Profile, text string) error {
	law, err := parseTime(text)
	if err == nil {
		p.Body, p.Function.Body = law, law.Mean()
	}
	return err
}

func setConcurrency(p *Profile, text string) error {
	n, err := parseCount(text, 1, 1<<16)
	p.Function.Concurrency = n
	return err
}

func setCPUs(p *Profile, text string) (err error) {
	p.Resources.MilliCPUs, err = ParseCPUs(text)
	return err
}

func setCPU(p *Profile, text string) (err error) {
	p.CPU, err = ParseCost(text)
	return err
}

func setThreads(p *Profile, text string) (err error) {
	p.Resources.Threads, err = parseCount(text, 1, MaxThreads)
	return err
}

func setProcess(p *Profile, text string) (err error) {
	p.Resources.Process, err = parseCount(text, 0, MaxThreads)
	return err
}

func setSidecar(p *Profile, text string) (err error) {
	p.Resources.Sidecar, err = ParseCPUs(text)
	return err
}

func setBackground(p *Profile, text string) (err error) {
	p.Resources.Background.Milli, err = ParseCPUs(text)
	return err
}

func setPeak(p *Profile, text string) error {
	b, err := ParsePeak(text)
	b.Milli = p.Resources.Background.Milli
	p.Resources.Background = b
	return err
}

// setMemory sets what the function is given, which is what its instances have.
func setMemory(p *Profile, text string) error {
	n, err := ParseMemory(text)
	p.Resources.Memory.Limit, p.Function.MemoryBytes = n, n
	return err
}

func setMemoryBase(p *Profile, text string) (err error) {
	p.Resources.Memory.Base, err = ParseMemory(text)
	return err
}

func setMemoryRequest(p *Profile, text string) (err error) {
	p.Resources.Memory.Request, err = ParseMemory(text)
	return err
}

func setConnections(p *Profile, text string) (err error) {
	p.Backing.Connections, err = parseCount(text, 0, MaxBacking)
	return err
}

func setPerInstance(p *Profile, text string) (err error) {
	p.Backing.PerInstance, err = parseCount(text, 0, MaxBacking)
	return err
}

func setQuota(p *Profile, text string) (err error) {
	p.Backing.Quota, err = parseCount(text, 0, MaxBacking)
	return err
}

func setFull(p *Profile, text string) error {
	if text != "fail" && text != "wait" {
		return fmt.Errorf("%w: %q: give fail or wait", ErrQuantity, text)
	}
	p.Backing.Waits = text == "wait"
	return nil
}

func parseCount(text string, least, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%w: %q: give a whole number from %d to %d", ErrQuantity, text, least, most)
	}
	return n, nil
}
