package fleet

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"coldwave/internal/clock"
)

// The environment of a worker process. A worker takes each of them also as a flag.
const (
	EnvPort        = "PORT" // 0: a free one
	EnvHost        = "HOST"
	EnvInstance    = "COLDWAVE_INSTANCE"    // its name
	EnvFunction    = "COLDWAVE_FUNCTION"    // label in its log
	EnvConcurrency = "COLDWAVE_CONCURRENCY" // requests in flight at once
	EnvService     = "COLDWAVE_SERVICE"     // execution time of a request that asks for none, such as 100ms
	EnvColdStart   = "COLDWAVE_COLD_START"  // start-up time, such as 1.7s or 1.7s-3s
	EnvBoot        = "COLDWAVE_BOOT_NS"     // Monotonic() at the decision: the start-up time counts from here
	EnvStartFails  = "COLDWAVE_START_FAILS" // 1: exit 1 after the start-up time instead of serving
	EnvDrain       = "COLDWAVE_DRAIN"       // limit of its drain
	EnvLog         = "COLDWAVE_LOG"         // file to append one JSON line per start and finish to
	EnvFailRatio   = "COLDWAVE_FAIL_RATIO"  // share of requests that answer 500
	EnvSeed        = "COLDWAVE_SEED"        // decides which ones, and the start-up time
	EnvCPUMode     = "COLDWAVE_CPU_MODE"    // sleep or burn
	envCover       = "GOCOVERDIR"           // passed on, so that a worker built for coverage can report
	listening      = "listening "           // a worker's first line on stdout is this and its address
	lineMax        = 128                    // bytes of that line
	bootMax        = int64(time.Hour)       // a boot instant farther from now is a mistake
	drainForever   = 24 * time.Hour         // the fleet keeps the drain limit itself
)

// EnvOf is the variable of a setting of platform.InstanceSettings: that of cpus is COLDWAVE_CPUS.
func EnvOf(setting string) string {
	return "COLDWAVE_" + strings.ToUpper(strings.ReplaceAll(setting, "-", "_"))
}

// ExitOutOfMemory is the exit code of a worker process that needed more memory than it has, as if it had been killed.
const ExitOutOfMemory = 137

// Listening is the line by which a worker says that it is ready.
func Listening(addr string) string { return listening + addr }

// ParseListening reads the address from the line by which a worker says that it is ready: "listening 127.0.0.1:43210".
// Only loopback addresses are taken: whatever a process prints, no request leaves this host (R24).
func ParseListening(line string) (string, error) {
	text, found := strings.CutPrefix(strings.TrimSuffix(line, "\r"), listening)
	if !found || len(line) > lineMax {
		return "", fmt.Errorf("worker's first line is %.60q: want %q and an address", line, listening)
	}
	addr, err := netip.ParseAddrPort(text)
	if err != nil || !addr.Addr().Unmap().IsLoopback() || addr.Addr().Zone() != "" || addr.Port() == 0 {
		return "", fmt.Errorf("worker listens on %.60q: want a loopback address with a port", text)
	}
	return addr.String(), nil
}

// BootEnv is the value of EnvBoot for an instant of c: a process started later can find that instant again.
func BootEnv(c clock.Clock, at clock.Instant) string {
	now, mono := c.Now(), Monotonic()
	return strconv.FormatInt(mono-int64(now.Sub(at)), 10)
}

// BootInstant is the inverse of BootEnv, on the clock of another process of this host. It refuses an instant more than
// an hour away.
func BootInstant(c clock.Clock, text string) (clock.Instant, error) {
	boot, err := strconv.ParseInt(text, 10, 64)
	mono, now := Monotonic(), c.Now()
	if err != nil || boot < mono-bootMax || boot > mono+bootMax {
		return 0, fmt.Errorf("%s=%.40q: want nanoseconds of the monotonic clock, within an hour of now", EnvBoot, text)
	}
	return now.Add(time.Duration(boot - mono)), nil
}
