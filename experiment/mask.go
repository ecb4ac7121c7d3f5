package experiment

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// leastMasked is the length in bytes from which a value is masked: shorter ones would
// hide half of every sentence, and give themselves away by it.
const leastMasked = 4

// masked stands where a secret stood.
const masked = "***"

// Mask hides secrets in texts. The zero value hides none.
type Mask struct {
	values  []string // the longest first
	replace *strings.Replacer
}

// NewMask makes a mask of the values of secrets, also as JSON has them. Of one that has
// several lines, each line is secret. What is shorter than 4 bytes is not masked.
func NewMask(secrets []string) Mask {
	var values []string
	for _, s := range secrets {
		forms := append(strings.Split(s, "\n"), s)
		for _, escapeHTML := range []bool{true, false} {
			forms = append(forms, inJSON(s, escapeHTML))
		}
		values = append(values, slices.DeleteFunc(forms, func(v string) bool { return len(v) < leastMasked })...)
	}
	if len(values) == 0 {
		return Mask{}
	}
	// The longest first: one may be part of another.
	slices.SortStableFunc(values, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(values))
	for _, v := range values {
		pairs = append(pairs, v, masked)
	}
	return Mask{values, strings.NewReplacer(pairs...)}
}

// inJSON gives a text as it stands between the quotes of JSON; Go escapes <, > and & if
// it is not told otherwise, others never do.
func inJSON(s string, escapeHTML bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(escapeHTML)
	if err := e.Encode(s); err != nil {
		panic("experiment: mask: " + err.Error()) // a broken invariant: every string has a form
	}
	quoted := strings.TrimSuffix(b.String(), "\n")
	return quoted[1 : len(quoted)-1]
}

// Text gives a text with every secret replaced, and the beginning of one at the dots
// where a text was shortened.
func (m Mask) Text(s string) string {
	if m.replace == nil {
		return s
	}
	for _, dots := range []string{"...", "…"} {
		parts := strings.Split(s, dots)
		for i := range parts[:len(parts)-1] {
			parts[i] = m.withoutBeginning(parts[i])
		}
		s = strings.Join(parts, dots)
	}
	return m.replace.Replace(s)
}

// withoutBeginning replaces a secret, or the beginning of one, with which a text ends.
func (m Mask) withoutBeginning(s string) string {
	for _, v := range m.values {
		for n := len(v); n >= leastMasked; n-- {
			if rest, ok := strings.CutSuffix(s, v[:n]); ok {
				return rest + masked
			}
		}
	}
	return s
}
