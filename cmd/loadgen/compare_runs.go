package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"coldwave/analysis"
	"coldwave/bundle"
	"coldwave/engine"
	"coldwave/experiment"
	"coldwave/internal/cliargs"
	"coldwave/platform"
	"coldwave/reports"
)

// compareRunsDefault is how many runs a side has unless it is told: of a change of 5 % with 2 % noise, 8 miss hardly any.
const compareRunsDefault = 8

func sessionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "runs", Value: compareRunsDefault, Category: "RUNS", Usage: "`N` valid runs a side; 4 are the fewest that can show anything"},
		&cli.IntFlag{Name: "lanes", Category: "RUNS", Usage: "`N` runs at once, staggered; 0: as many as leave 1 s between two waves, at most 8"},
		&cli.IntFlag{Name: "spare", Value: 2 * compareRunsDefault, Category: "RUNS", Usage: "at most `N` rounds more, in place of those that the host spoilt"},
		&cli.DurationFlag{Name: "rest", Category: "RUNS", Usage: "pause between runs, such as the keep-alive of a target"},
		&cli.BoolFlag{Name: "one-seed", Category: "RUNS", Usage: "all rounds on --seed, so that only the host differs from run to run; else round k has seed + k"},
		&cli.BoolFlag{Name: "aa", Category: "RUNS", Usage: "compare the only side with itself: its noise, and what could be seen through it"},
		&cli.BoolFlag{Name: "plan", Category: "PLAN", Usage: "send nothing: how many runs a side are needed for --effect"},
		&cli.StringFlag{Name: "effect", Value: "5%", Category: "PLAN", Usage: "change that is to be found"},
		&cli.StringFlag{Name: "noise", Category: "PLAN", Usage: "standard deviation from run to run, such as 3%; else that of the side, in virtual time or of recorded runs"},
		&cli.StringSliceFlag{Name: "metric", Category: "METRICS",
			Usage: "`SELECTOR[=MARGIN]` to compare, repeatable, such as 'warm.p99=5%' or 'p99 over wave 4'; else a list of usual ones"},
		&cli.StringSliceFlag{Name: "primary", Category: "METRICS", Usage: "`SELECTOR` whose regression fails (exit 1), repeatable; else p99, or the first --metric"},
		&cli.BoolFlag{Name: "paired", Category: "METRICS", Usage: "compare round by round (Wilcoxon) instead of each run with each (Mann-Whitney)"},
		&cli.StringFlag{Name: "fail-on", Category: "METRICS", Usage: "also fail on: inconclusive (exit 3)"},
		&cli.BoolFlag{Name: "force", Category: "RUNS", Usage: "compare recorded runs though host or program differ"},
		&cli.StringFlag{Name: "policy", Value: "fc-race", Usage: "`POLICY` of build: sides that name none", Category: "PLATFORM"},
		&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "runs", Usage: "`DIR` in which the directory of the comparison is made", Category: "OUTPUT"},
	}
}

// compareRuns compares run by run: on the wire, in virtual time, or what was recorded.
func (p *program) compareRuns(c *cli.Context, args []string, from experiment.Scenario) error {
	sides, err := sessionSides(c, args)
	if err != nil {
		return err
	}
	ys, err := yardsticks(c)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(sides, func(s string) bool { return strings.HasPrefix(s, runSide) }) {
		return p.compareRecorded(c, sides, ys, from)
	}
	session, err := p.session(c, sides, ys)
	if err != nil {
		return classify(err)
	}
	session.Reading.Phases = from.Phases
	plan, err := session.Plan()
	if err != nil {
		return classify(err)
	}
	view, err := p.newDisplay(c)
	if err != nil {
		return err
	}
	p.announce(c, session, plan)
	meta := newMeta(c, c.Uint64("seed"))
	kept := keepSession(c, &session, meta)
	out, runErr := session.Run(c.Context, view.show)
	view.clear()
	if len(out.Sides) == 0 {
		return classify(runErr)
	}
	out.Meta = meta
	report, err := kept.finish(out)
	if err != nil {
		return errors.Join(err, classify(runErr))
	}
	if err := p.write(c, comparison(out)); err != nil {
		return err
	}
	if report != "" {
		fmt.Fprintf(p.stderr, "report  %s\n", report)
	}
	if runErr != nil {
		return classify(runErr)
	}
	return changeError(&out, c.String("fail-on"))
}

// compareRecorded compares runs that were made before.
func (p *program) compareRecorded(c *cli.Context, sides []string, ys []analysis.Yardstick, from experiment.Scenario) error {
	job := experiment.Recorded{AA: c.Bool("aa"), Force: c.Bool("force"), Level: c.Float64("confidence"), Yardsticks: ys, Reading: analysis.Reading{Phases: from.Phases}}
	if job.AA {
		sides = sides[:1]
	}
	if c.Bool("paired") {
		return cliargs.Errorf(cliargs.Usage, "--paired: recorded runs were made in no rounds that could be paired")
	}
	for _, side := range sides {
		rest, ok := strings.CutPrefix(side, runSide)
		if !ok {
			return cliargs.Errorf(cliargs.Usage, "side %q: recorded runs cannot take turns with new ones: give run:DIR on all sides", side)
		}
		job.Sides = append(job.Sides, recording(side, rest))
	}
	out, err := job.Compare()
	if err != nil {
		return classify(err)
	}
	out.Meta = newMeta(c, out.Seed)
	if err := p.write(c, comparison(out)); err != nil {
		return err
	}
	return changeError(&out, c.String("fail-on"))
}

// recording reads "DIR[@POLICY]".
func recording(name, text string) experiment.Recording {
	dir, policy, _ := strings.Cut(text, "@")
	return experiment.Recording{Name: name, Dir: dir, Policy: policy}
}

func comparison(out reports.RunComparison) document {
	return document{
		text: func(w io.Writer, s reports.Style) error { return reports.RunComparisonText(w, out, s) },
		json: func(w io.Writer) error { return reports.RunComparisonJSON(w, out) },
		md:   func(w io.Writer) error { return reports.RunComparisonMarkdown(w, out) },
		html: func(w io.Writer) error { return reports.RunComparisonHTML(w, out) },
	}
}

// planLine says what will be sent, and how long it takes.
func planLine(s experiment.Session, p experiment.Plan) string {
	at := "one at a time"
	if p.Lanes > 1 {
		at = fmt.Sprintf("%d at once", p.Lanes)
	}
	batches := ""
	if p.Batches > 1 {
		batches = fmt.Sprintf(" in %d batches", p.Batches)
	}
	return fmt.Sprintf("%d rounds of %d sides on %s, %s%s: about %v (--gap shortens waves, --lanes changes how many run at once)", p.Rounds, p.Sides,
		s.Sides[0].Cell.Pattern, at, batches, p.Length.Round(time.Second))
}

// announce says before anything is sent what will be sent, and whether it can show anything.
func (p *program) announce(c *cli.Context, s experiment.Session, plan experiment.Plan) {
	if !s.Virtual && !c.Bool("quiet") {
		fmt.Fprintln(p.stderr, planLine(s, plan))
	}
	if least := analysis.LeastRuns(len(s.Yardsticks), s.Versus()); least > s.Rounds && !s.AA {
		fmt.Fprintf(p.stderr, "warning: %d runs a side cannot show a change in one of %d metrics; %d can, and fewer metrics need fewer (--metric)\n", s.Rounds,
			len(s.Yardsticks), least)
	}
}

// session reads the command line.
func (p *program) session(c *cli.Context, sides []string, ys []analysis.Yardstick) (experiment.Session, error) {
	sending, err := sendingOf(c)
	if err != nil {
		return experiment.Session{}, err
	}
	out := experiment.Session{
		ID: bundle.NewID(time.Now()), Rounds: c.Int("runs"), Spare: c.Int("spare"), Lanes: c.Int("lanes"), Rest: c.Duration("rest"), Virtual: c.Bool("virtual"),
		AA: c.Bool("aa"), Paired: c.Bool("paired"), OneSeed: c.Bool("one-seed"), Level: c.Float64("confidence"), Fleet: p.fleet(c), Sending: sending, Yardsticks: ys,
	}
	for _, side := range sides {
		one, err := p.contender(c, side)
		if err != nil {
			return out, err
		}
		out.Sides = append(out.Sides, one)
	}
	return out, nil
}

// sessionSides reads the names of the sides; --aa has one, twice.
func sessionSides(c *cli.Context, args []string) ([]string, error) {
	sides, _, err := sidesOf(c, args)
	if err != nil || !c.Bool("aa") {
		return sides, err
	}
	if len(sides) != 1 {
		return nil, cliargs.Errorf(cliargs.Usage, "--aa compares one side with itself, got %d", len(sides))
	}
	return []string{sides[0], sides[0]}, nil
}

// contender reads one side.
func (p *program) contender(c *cli.Context, side string) (experiment.Contender, error) {
	kind, rest, _ := strings.Cut(side, ":")
	policy := rest
	out := experiment.Contender{Name: side}
	switch kind + ":" {
	case policySide:
		if err := experiment.CheckPolicy(policy, c.Bool("virtual")); err != nil {
			return out, err
		}
	case buildSide:
		path, named, found := strings.Cut(rest, "@")
		if policy = c.String("policy"); found {
			policy = named
		}
		out.Program = &experiment.Program{Path: path, Errors: p.stderr}
	case targetSide:
		guard, err := engine.NewGuard(c.StringSlice("allow")...)
		if err != nil {
			return out, err
		}
		target, err := guard.Target(rest)
		if err != nil {
			return out, err
		}
		out.Name, out.Remote, policy = targetSide+target.String(), &experiment.Remote{Target: target}, ""
	}
	var err error
	out.Cell, err = sessionCell(c, policy)
	return out, err
}

// sessionCell reads the cell of a side; a target has no policy.
func sessionCell(c *cli.Context, policy string) (experiment.Cell, error) {
	if policy != "" {
		return virtualCell(c, policy)
	}
	cell, err := virtualCell(c, "fc-race") // for its pattern and the demands of its schedule, which a target is not told
	cell.Policy, cell.Profile = "", platform.Default()
	return cell, err
}

// yardsticks reads --metric and --primary; none: the usual ones.
func yardsticks(c *cli.Context) ([]analysis.Yardstick, error) {
	var all []analysis.Yardstick
	for _, text := range c.StringSlice("metric") {
		y, err := yardstick(text)
		if err != nil {
			return nil, err
		}
		all = append(all, y)
	}
	primary := c.StringSlice("primary")
	if len(all) == 0 {
		all = analysis.DefaultYardsticks()
	} else if len(primary) == 0 {
		all[0].Primary = true
	}
	if len(primary) == 0 {
		return all, nil
	}
	for i := range all {
		all[i].Primary = false
	}
	for _, text := range primary {
		y, err := yardstick(text)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(all, func(x analysis.Yardstick) bool { return x.Name == y.Name })
		if at < 0 {
			at, all = len(all), append(all, y)
		}
		all[at].Primary = true
	}
	return all, nil
}

// yardstick reads "SELECTOR[=MARGIN]".
func yardstick(text string) (analysis.Yardstick, error) {
	name, margin, given := strings.Cut(text, "=")
	s, err := analysis.ParseSelector(strings.TrimSpace(name))
	if err != nil {
		return analysis.Yardstick{}, &cliargs.Error{Code: cliargs.Usage, Err: prefixed{"--metric ", err}}
	}
	y := analysis.YardstickFor(s)
	if given {
		if y.Margin, err = share(margin); err != nil || y.Margin <= 0 || y.Margin >= 1 {
			return y, cliargs.Errorf(cliargs.Usage, "--metric %q: the margin must lie between 0%% and 100%%, such as 5%%", text)
		}
	}
	return y, nil
}

// share reads "5%" or "0.05".
func share(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	x, err := strconv.ParseFloat(number, 64)
	if percent {
		x /= 100
	}
	return x, err
}

// changeError turns verdicts into the exit code. A void comparison judges nothing.
func changeError(out *reports.RunComparison, failOn string) error {
	if !out.Valid() {
		return cliargs.Errorf(cliargs.Invalid, "the comparison is void: too few valid runs (%d wanted a side, %d rounds were spoilt); run it on a calm host",
			out.Wanted, len(out.Void))
	}
	var worse, unclear []string
	for _, pair := range out.Pairs {
		for _, r := range pair.Rows {
			switch {
			case !r.Primary:
			case r.Change == analysis.Regressed:
				worse = append(worse, pair.B+" "+r.Name)
			case r.Change == analysis.Unclear:
				unclear = append(unclear, pair.B+" "+r.Name)
			}
		}
	}
	switch {
	case len(worse) > 0:
		return cliargs.Errorf(cliargs.GateFailed, "regression against %s: %s", out.Sides[0].Name, strings.Join(worse, ", "))
	case failOn == "inconclusive" && len(unclear) > 0:
		return cliargs.Errorf(cliargs.Inconclusive, "inconclusive against %s: %s", out.Sides[0].Name, strings.Join(unclear, ", "))
	}
	return nil
}
