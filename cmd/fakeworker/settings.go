package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"coldwave/fleet"
	"coldwave/fleet/worker"
	"coldwave/internal/cliargs"
	"coldwave/platform"
)

// setting is one value that a flag or the environment can give. Flags are text, so that both are read the same way.
type setting struct{ flag, env, preset, usage string }

func (s setting) cli() cli.Flag {
	usage := s.usage
	if s.env != "" {
		usage += " [$" + s.env + "]"
	}
	return &cli.StringFlag{Name: s.flag, Value: s.preset, Usage: usage}
}

func flags(settings ...setting) []cli.Flag {
	var all []cli.Flag
	for _, s := range settings {
		all = append(all, s.cli())
	}
	return all
}

var (
	settingHost        = setting{"host", fleet.EnvHost, "127.0.0.1", "`ADDRESS` to listen on; 0.0.0.0 in a container"}
	settingColdStart   = setting{"cold-start", fleet.EnvColdStart, "0s", "start-up `TIME`: 2s, a range 1.7s-3s, or a law such as lognormal:median=2s,sigma=0.3"}
	settingService     = setting{"service", fleet.EnvService, "100ms", "execution `TIME` of a request that asks for none"}
	settingConcurrency = setting{"concurrency", fleet.EnvConcurrency, "1", "`N` requests in flight on one worker; more are refused with 503"}
	settingLog         = setting{"log", fleet.EnvLog, "", "`FILE` to append one JSON line per start and finish to; - is stderr"}
	settingDrain       = setting{"drain", fleet.EnvDrain, "30s", "longest `TIME` that requests in flight may take after SIGTERM"}
	settingSeed        = setting{"seed", fleet.EnvSeed, "1", "`N`, seed of the start-up times and failures"}
	settingFailRatio   = setting{"fail-ratio", fleet.EnvFailRatio, "0", "`SHARE` of requests, 0 to 1, that answer 500"}
	settingID          = setting{"id", fleet.EnvInstance, "fakeworker", "`NAME` in X-Coldwave-Instance and in the log"}
	settingFunction    = setting{"function", fleet.EnvFunction, "", "`NAME` of the function in the log"}
	settingMax         = setting{"max", "", strconv.Itoa(fleet.DefaultMax), "`N` workers at once"}
	settingCPUMode     = setting{"cpu-mode", fleet.EnvCPUMode, string(worker.Sleep), "`MODE` of CPU time: sleep passes it, burn really computes"}
	settingTokenFile   = setting{"token-file", "", "", "`FILE` with a token that clients must send as Authorization: Bearer"}
)

func settingPort(preset string) setting {
	return setting{"port", fleet.EnvPort, preset, "`PORT` to listen on; 0 is a free one"}
}

func addressFlags(port string) []cli.Flag { return flags(settingHost, settingPort(port)) }

func workerFlags() []cli.Flag {
	return append(flags(settingID, settingFunction, settingColdStart, settingService, settingConcurrency, settingFailRatio,
		settingSeed, settingDrain, settingLog), instanceFlags()...)
}

func fleetFlags() []cli.Flag {
	return append(flags(settingColdStart, settingService, settingConcurrency, settingMax, settingSeed, settingDrain, settingLog,
		settingTokenFile), instanceFlags()...)
}

// instanceFlags are what bodies share.
func instanceFlags() []cli.Flag {
	all := flags(settingCPUMode)
	for _, s := range platform.InstanceSettings() {
		all = append(all, setting{s.Name, fleet.EnvOf(s.Name), "", s.Usage}.cli())
	}
	return all
}

// instance reads what bodies share, and the CPU time of one whose request states none.
func (r *reader) instance() (platform.Cost, platform.Resources) {
	var p platform.Profile
	for _, s := range platform.InstanceSettings() {
		text, from := r.text(setting{s.Name, fleet.EnvOf(s.Name), "", s.Usage})
		if text == "" {
			continue
		}
		if err := p.Set(s.Name, text); err != nil {
			r.errs = append(r.errs, fmt.Errorf("%s: %w", from, err))
		}
	}
	return p.CPU, p.Resources
}

func (r *reader) mode() worker.CPUMode {
	text, from := r.text(settingCPUMode)
	mode, err := worker.ParseCPUMode(text)
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("%s: %w", from, err))
	}
	return mode
}

// reader reads settings and collects every problem. A flag beats the environment, which beats the preset.
type reader struct {
	c    *cli.Context
	env  func(string) string
	errs []error
}

// err is one error of exit code 2 with all problems, or nil.
func (r *reader) err() error {
	if err := errors.Join(r.errs...); err != nil {
		return cliargs.Errorf(cliargs.Usage, "%w", err)
	}
	return nil
}

// text returns a setting and where it comes from.
func (r *reader) text(s setting) (value, from string) {
	if s.env != "" && !r.c.IsSet(s.flag) {
		if v := r.env(s.env); v != "" {
			return v, "$" + s.env
		}
	}
	return r.c.String(s.flag), "--" + s.flag
}

// read parses a setting; want says what it must look like.
func read[T any](r *reader, s setting, want string, parse func(string) (T, error)) T {
	text, from := r.text(s)
	v, err := parse(text)
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("%s %q: want %s", from, text, want))
	}
	return v
}

func (r *reader) duration(s setting, longest time.Duration) time.Duration {
	return read(r, s, fmt.Sprintf("a time from 0s to %v, such as 100ms", longest), func(text string) (time.Duration, error) {
		d, err := time.ParseDuration(text)
		if err == nil && (d < 0 || d > longest) {
			err = strconv.ErrRange
		}
		return d, err
	})
}

func (r *reader) number(s setting, least, most int) int {
	return read(r, s, fmt.Sprintf("a whole number from %d to %d", least, most), func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err == nil && (n < least || n > most) {
			err = strconv.ErrRange
		}
		return n, err
	})
}

func (r *reader) seed() uint64 {
	return read(r, settingSeed, "a whole number ≥ 0", func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) })
}

func (r *reader) failRatio() float64 {
	return read(r, settingFailRatio, "a number from 0 to 1", func(text string) (float64, error) {
		f, err := strconv.ParseFloat(text, 64)
		if err == nil && !(f >= 0 && f <= 1) {
			err = strconv.ErrRange
		}
		return f, err
	})
}

func (r *reader) coldStart() platform.Law {
	text, from := r.text(settingColdStart)
	law, err := fleet.ParseColdStart(text)
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("%s: %w", from, err))
	}
	return law
}

func (r *reader) concurrency() int { return r.number(settingConcurrency, 1, worker.MaxConcurrency) }

// address returns host:port. The host is an address or localhost: a name could lead anywhere.
func (r *reader) address(port string) netip.AddrPort {
	host := read(r, settingHost, "an IP address or localhost", func(text string) (netip.Addr, error) {
		if strings.EqualFold(text, "localhost") {
			text = "127.0.0.1"
		}
		return netip.ParseAddr(text)
	})
	return netip.AddrPortFrom(host, uint16(r.number(settingPort(port), 0, 65535)))
}

// openLog opens the log of a worker: append only, readable for the owner only.
func (p *program) openLog(r *reader) (*worker.Log, func() error, error) {
	nothing := func() error { return nil }
	path, from := r.text(settingLog)
	switch path {
	case "":
		return nil, nothing, nil
	case "-":
		return worker.NewLog(p.stderr, time.Now), nothing, nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, nil, cliargs.Errorf(cliargs.Usage, "%s: %w", from, err)
	}
	return worker.NewLog(f, time.Now), f.Close, nil
}

// token reads the token of the API. It comes from a file, because the command line is no secret.
func (r *reader) token() string {
	path, from := r.text(settingTokenFile)
	if path == "" {
		return ""
	}
	text, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	token := strings.TrimSpace(string(text))
	switch {
	case err != nil:
		r.errs = append(r.errs, fmt.Errorf("%s: %w", from, err))
	case token == "" || len(token) > 4096 || strings.ContainsAny(token, " \t\r\n"):
		r.errs = append(r.errs, fmt.Errorf("%s %q: want one word of at most 4096 bytes", from, path))
	}
	return token
}

// noArguments refuses arguments, and flags in front of a verb that belong behind it.
func noArguments(c *cli.Context) error {
	if arg := c.Args().First(); arg != "" {
		return cliargs.Errorf(cliargs.Usage, "unknown verb or argument %q; run 'fakeworker --help'", arg)
	}
	for _, outer := range c.Lineage()[1:] {
		if outer.Command == nil {
			continue
		}
		if set := outer.LocalFlagNames(); len(set) > 0 && outer.Command.Name != c.Command.Name {
			return cliargs.Errorf(cliargs.Usage, "--%s stands in front of the verb: write 'fakeworker %s --%s …'", set[0], c.Command.Name, set[0])
		}
	}
	return nil
}

// reachable is the address by which this host reaches a listener on addr.
func reachable(addr netip.AddrPort) string {
	if !addr.Addr().IsUnspecified() {
		return addr.String()
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(int(addr.Port())))
}
