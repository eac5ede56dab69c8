package reports

import (
	"slices"

	"coldwave/analysis"
)

// undocumented stands where a platform's documents do not say what a bill would be.
const undocumented = "not documented"

// billGrids say what the platforms would bill; none where no target told of its instances or its policy.
func billGrids(ps []pair) []grid {
	g := grid{Caption: "Billed time (instance-seconds)", Columns: []column{
		{Name: "pattern"}, {Name: "policy"}, {Name: "platform"}, {Name: "by request", Number: true}, {Name: "apart", Number: true},
		{Name: "by instance", Number: true},
	}}
	var notes []string
	for _, p := range ps {
		for _, c := range p.Cells {
			if len(c.Run.Instances) == 0 || c.Run.Policy == "" {
				continue
			}
			g.add(append([]string{p.Pattern, c.Policy}, billCells(c.Run.Tariff, &c.Run.Summary.Bill)...)...)
			if t := c.Run.Tariff; t != nil && !slices.Contains(notes, TariffText(t)) {
				notes = append(notes, TariffText(t))
			}
		}
	}
	if len(g.Lines) == 0 {
		return nil
	}
	if g.Notes = notes; len(notes) > 0 {
		g.Notes = append(notes, "apart: idle instances that a minimum keeps, or reserved ones, which have a rate of their own.")
	}
	return []grid{g}
}

func billCells(t *analysis.Tariff, b *analysis.Bill) []string {
	if t == nil {
		return []string{undocumented, "", "", ""}
	}
	apart := ""
	if b.ByRequest.OK {
		apart = instanceSeconds(b.ByRequest.Apart)
	}
	return []string{t.Platform, chargeText(t.ByRequest, b.ByRequest), apart, chargeText(t.ByInstance, b.ByInstance)}
}

func chargeText(m *analysis.Meter, c analysis.Charge) string {
	switch {
	case m == nil:
		return undocumented
	case !c.OK:
		return "n/a (no records)"
	}
	return instanceSeconds(c.Full)
}

// TariffText says in a sentence what a platform bills; nil: that it is not documented.
func TariffText(t *analysis.Tariff) string {
	if t == nil {
		return undocumented
	}
	text := t.Platform
	between := ", "
	for _, m := range []struct {
		name string
		of   *analysis.Meter
	}{{"by request: ", t.ByRequest}, {"by instance: ", t.ByInstance}} {
		if m.of != nil {
			text += between + m.name + meterText(m.of)
			between = "; "
		}
	}
	return text + "."
}

func meterText(m *analysis.Meter) string {
	var text string
	switch m.Basis {
	case analysis.Executions:
		text = "each execution"
	case analysis.Stretches:
		text = "the time with a request in flight"
	case analysis.Lives:
		text = "whole lives"
	}
	if m.StartUps {
		text += " and start-ups"
	}
	if m.Round > 0 {
		text += ", rounded up to " + duration(m.Round)
	}
	if m.Least > 0 {
		text += ", at least " + duration(m.Least)
	}
	return text
}

// billDoc is what a platform would bill; nil where its documents do not say.
type billDoc struct {
	Platform   string     `json:"platform"`
	ByRequest  *chargeDoc `json:"by_request"`
	ByInstance *chargeDoc `json:"by_instance"`
}

type chargeDoc struct {
	Full  int64 `json:"full_ns"`
	Apart int64 `json:"apart_ns"`
}

func billOf(t *analysis.Tariff, b *analysis.Bill) *billDoc {
	if t == nil {
		return nil
	}
	return &billDoc{Platform: t.Platform, ByRequest: chargeOf(b.ByRequest), ByInstance: chargeOf(b.ByInstance)}
}

func chargeOf(c analysis.Charge) *chargeDoc {
	if !c.OK {
		return nil
	}
	return &chargeDoc{Full: int64(c.Full), Apart: int64(c.Apart)}
}
