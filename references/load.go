package references

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// ErrClaim is the error of claims that cannot be used.
var ErrClaim = errors.New("unusable claim")

// claimsJSON holds the claims on Function Compute.
//
//go:embed fc-claims.json
var claimsJSON []byte

// Load returns the claims on Function Compute, in the order of the report.
func Load() ([]Claim, error) { return Parse("fc-claims.json", claimsJSON) }

// Parse reads claims from a JSON list. An unknown field, an unknown check, a limit that is missing or that the check does
// not use, and an id that is there twice are errors; they wrap ErrClaim and name the file and the claim.
func Parse(name string, src []byte) ([]Claim, error) {
	var claims []Claim
	if err := decode(name, src, &claims); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrClaim, err)
	}
	return claims, validateAll(name, claims)
}

// decode reads one JSON document and no more, without unknown fields. An error names the file and the line.
func decode(name string, src []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("%s:%d: %w", name, lineAt(src, dec.InputOffset()), err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s:%d: text after its end", name, lineAt(src, dec.InputOffset()))
	}
	return nil
}

func validateAll(name string, claims []Claim) error {
	seen, table := map[string]bool{}, checks()
	for _, c := range claims {
		if seen[c.ID] {
			return fmt.Errorf("%w: %s: id %q is there twice", ErrClaim, name, c.ID)
		}
		seen[c.ID] = true
		if err := c.validate(table); err != nil {
			return fmt.Errorf("%w: %s: claim %q: %w", ErrClaim, name, c.ID, err)
		}
	}
	return nil
}

func lineAt(src []byte, offset int64) int { return 1 + bytes.Count(src[:offset], []byte("\n")) }

func (c Claim) validate(table map[string]check) error {
	for field, text := range map[string]string{
		"id": c.ID, "statement": c.Statement, "source": c.Source, "documented": c.Documented, "tolerance": c.Tolerance, "why": c.Why,
	} {
		if strings.TrimSpace(text) == "" {
			return fmt.Errorf("%s is empty", field)
		}
	}
	k, ok := table[c.Check]
	if !ok {
		return fmt.Errorf("there is no check %q", c.Check)
	}
	if c.Pattern != "" && c.Pattern != Online32 && !slices.Contains(allPatterns[:], c.Pattern) {
		return fmt.Errorf("pattern %q is not documented", c.Pattern)
	}
	if c.Driver != "" && c.Driver != driverVirtual && c.Driver != driverWire {
		return fmt.Errorf("driver %q: must be virtual, wire or empty", c.Driver)
	}
	for _, limit := range k.limits {
		if _, ok := c.Limits[limit]; !ok {
			return fmt.Errorf("check %q needs the limit %q", c.Check, limit)
		}
	}
	if len(c.Wants) > 0 != (c.Check == checkExample) {
		return fmt.Errorf("check %q and %d wants: a worked example has wants, and nothing else has", c.Check, len(c.Wants))
	}
	for _, w := range c.Wants {
		if err := w.validate(c); err != nil {
			return err
		}
	}
	return c.validateLimits(k)
}

func (c Claim) validateLimits(k check) error {
	for name, v := range c.Limits {
		limit, law, forLaw := strings.Cut(name, "@")
		switch {
		case !slices.Contains(k.limits, limit) && !slices.Contains(k.may, limit):
			return fmt.Errorf("check %q does not use the limit %q", c.Check, name)
		case forLaw && !slices.Contains(c.Laws, law):
			return fmt.Errorf("limit %q is for a law that is not among %q", name, c.Laws)
		case math.IsNaN(v) || math.IsInf(v, 0) || v < 0 || v > 1e9:
			return fmt.Errorf("limit %q is %v: must be in 0 to 1e9", name, v)
		}
	}
	return nil
}

// Select returns the claims with these ids, in the order of claims; all of them if there are no ids. An id that no claim
// has is an error that wraps ErrClaim.
func Select(claims []Claim, ids []string) ([]Claim, error) {
	if len(ids) == 0 {
		return claims, nil
	}
	var out []Claim
	for _, c := range claims {
		if slices.Contains(ids, c.ID) {
			out = append(out, c)
		}
	}
	for _, id := range ids {
		if !slices.ContainsFunc(claims, func(c Claim) bool { return c.ID == id }) {
			return nil, fmt.Errorf("%w: %q: there is no claim with this id", ErrClaim, id)
		}
	}
	return out, nil
}
