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
	set   func(p *Profile, text string) error
}

// Settings lists them in the order in which they are shown.
func Settings() []Setting { return settings[:] }

var settings = [...]Setting{
	{"exec", "execution time of a request where nothing lacks CPU: a `TIME` or a law of --cold-law", setExec},
	{"concurrency", "`N` requests in flight on one instance", setConcurrency},
	{"cpus", "`CPUS` of an instance: 2, 0.5, 500m. Bodies that compute share them; without it no CPU is ever lacked", setCPUs},
	{"cpu", "CPU `TIME` of a body, the part of its execution time that is computed: 50ms, 60%, a law of --cold-law", setCPU},
	{"threads", "`N` CPUs that one body uses at once", setThreads},
	{"process-threads", "`N` CPUs that all bodies of an instance use at once, 1 for a runtime with one thread; 0: no limit", setProcess},
	{"sidecar-cpus", "`CPUS` of the sidecars, which count as the instance's but serve no body (CR-10)", setSidecar},
	{"background", "`CPUS` that an instance uses outside requests at all times", setBackground},
	{"background-peak", "and periodically in addition: 0.5:2s/30s is half a CPU for 2 s every 30 s of an instance's life", setPeak},
	{"memory", "memory limit of an instance, as 512Mi; one that needs more fails", setMemory},
	{"memory-base", "memory of an instance without a request", setMemoryBase},
	{"memory-request", "memory of each request in flight", setMemoryRequest},
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

func parseCount(text string, least, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%w: %q: give a whole number from %d to %d", ErrQuantity, text, least, most)
	}
	return n, nil
}
