package arch

// line is one line of the table: packages that may import the lines above and never each other.
type line struct {
	packages []string
	pure     bool // no net, no os, no clock, no goroutine: values in, values out, and at most an io.Writer
}

// layers is the architecture. The order of the lines is the direction of the imports.
var layers = []line{
	{pure: true, packages: []string{"internal/clock", "internal/rng", "internal/hdr", "internal/spell", "docs/schema"}},
	{pure: true, packages: []string{"workload"}},
	{pure: true, packages: []string{"record", "platform", "patterns", "routing"}},
	{pure: true, packages: []string{"scheduler", "analysis"}},
	{pure: true, packages: []string{"scheduler/policies", "references"}},
	{pure: true, packages: []string{"sim"}},
	{pure: true, packages: []string{"reports", "scheduler/policytest"}},
	// Goroutines, clocks, sockets and files from here on.
	{packages: []string{"internal/realclock", "internal/broker", "bundle"}},
	{packages: []string{"engine", "gateway", "fleet/worker", "history"}},
	{packages: []string{"fleet", "agent", "async"}},
	{packages: []string{"experiment", "internal/cliargs"}}, // cliargs: what the command lines have in common
	{packages: []string{"cmd/loadgen", "cmd/fakeworker", "cmd/gateway"}},
}

// apart are packages outside the table: they import nothing of the module.
var apart = []string{"internal/arch"}

// forbidden are pairs that the lines alone would allow.
var forbidden = []struct{ from, to, why string }{
	{"engine", "scheduler", "the engine must drive any HTTP target"},
	{"gateway", "fleet", "the gateway declares Provisioner, the fleet implements it"},
}

// modules says which packages may use which module. A module that is not listed may be used by none.
var modules = []struct {
	path  string
	users []string
}{
	{"github.com/HdrHistogram/hdrhistogram-go", []string{"internal/hdr"}},
	{"github.com/goccy/go-yaml", []string{"patterns", "experiment"}},
	{"github.com/cespare/xxhash/v2", []string{"routing"}},
	{"gonum.org/v1/gonum", []string{"analysis", "references"}},
	{"github.com/aclements/go-moremath", []string{"analysis"}},
	{"github.com/olekukonko/tablewriter", []string{"reports"}},
	{"golang.org/x/perf", []string{"reports"}},
	{"github.com/tsenart/vegeta/v12/lib", []string{"engine"}},
	{"github.com/tsenart/vegeta/v12/lib/plot", []string{"reports"}}, // plot.Assets holds the chart library
	{"golang.org/x/sys", []string{"internal/realclock", "engine", "fleet", "fleet/worker", "bundle"}},
	{"github.com/prometheus/client_golang", []string{"gateway"}},
	{"github.com/parquet-go/parquet-go", []string{"bundle"}},
	{"modernc.org/sqlite", []string{"history"}},
	{"github.com/jackc/pgx/v5", []string{"history"}},
	{"github.com/nats-io/nats-server/v2", []string{"internal/broker"}},
	{"github.com/nats-io/nats.go", []string{"internal/broker", "agent", "async"}},
	{"github.com/moby/moby/client", []string{"fleet"}},
	{"github.com/urfave/cli/v2", []string{"internal/cliargs", "cmd/loadgen", "cmd/fakeworker", "cmd/gateway"}},
	{"golang.org/x/term", []string{"cmd/loadgen"}},
	{"pgregory.net/rapid", []string{"scheduler/policytest"}},
	{"github.com/google/go-cmp", []string{"scheduler/policytest"}},
}

// impure are packages of the standard library that a pure package must not import, with all below them.
var impure = []string{"net", "os", "syscall", "crypto/rand", "log", "plugin"}

// harmless are packages below an impure one that only compute.
var harmless = []string{"net/url", "net/netip", "net/textproto"}

// wallTime are the names of package time that read or wait for the real clock.
var wallTime = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// seeded are the functions of math/rand/v2 that do not draw from the global source.
var seeded = []string{"New", "NewPCG", "NewChaCha8", "NewZipf"}

// unseeded are the files that may draw from the global source, with the reason.
var unseeded = map[string]string{
	"bundle/id.go": "the name of a run must differ from run to run and is no part of any result",
}

// vague are package names that say nothing of what is inside.
var vague = []string{"util", "utils", "common", "helper", "helpers", "misc", "manager", "base", "shared", "lib"}

// Limits of size, in lines.
const (
	longestFunction = 70
	longestFile     = 500
)
