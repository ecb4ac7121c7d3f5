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

// CutMark stands in the middle of a log of which the beginning and the end are kept.
const CutMark = "\n[...]\n"

// Text gives a text with every secret replaced, and what is left of one beside the dots
// where a text was shortened, if that is 4 bytes or more.
func (m Mask) Text(s string) string {
	if m.replace == nil {
		return s
	}
	for _, dots := range []string{CutMark, "...", "…"} {
		parts := strings.Split(s, dots)
		for i := range parts {
			if i > 0 {
				parts[i] = m.withoutEnd(parts[i])
			}
			if i < len(parts)-1 {
				parts[i] = m.withoutBeginning(parts[i])
			}
		}
		s = strings.Join(parts, dots)
	}
	return m.replace.Replace(s)
}

// withoutBeginning replaces a secret, or the beginning of one, with which a text ends:
// the longest that it may be.
func (m Mask) withoutBeginning(s string) string {
	most := leastMasked - 1
	for _, v := range m.values {
		for n := min(len(v), len(s)); n > most; n-- {
			if strings.HasSuffix(s, v[:n]) {
				most = n
			}
		}
	}
	if most < leastMasked {
		return s
	}
	return s[:len(s)-most] + masked
}

// withoutEnd replaces a secret, or the end of one, with which a text begins.
func (m Mask) withoutEnd(s string) string {
	most := leastMasked - 1
	for _, v := range m.values {
		for n := min(len(v), len(s)); n > most; n-- {
			if strings.HasPrefix(s, v[len(v)-n:]) {
				most = n
			}
		}
	}
	if most < leastMasked {
		return s
	}
	return masked + s[most:]
}
