package matrixfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

var errUnknownField = errors.New("unknown field")

// shape says which fields an object has: those that are read here, those that the
// language names but this version lacks, and those that are refused for good,
// each with the reason.
type shape struct {
	known []string
	later []string
	never map[string]string
}

func words(s string) []string { return strings.Fields(s) }

// object is a mapping whose fields are known.
type object map[string]*value

// object checks a mapping against its shape. Absent, broken and wrong values give
// an object without fields.
func (r *reader) object(v *value, s shape) object {
	o := object{}
	if !r.want(v, mapping, "") {
		return o
	}
	for _, f := range v.fields {
		switch reason, refused := s.never[f.name]; {
		case slices.Contains(s.known, f.name):
			o[f.name] = f.value
		case refused:
			r.fault(f.at, f.value.path, fmt.Errorf("refused: %s", reason), "")
		case slices.Contains(s.later, f.name):
			r.fault(f.at, f.value.path, experiment.ErrNotYet, "")
		default:
			hint := "known: " + strings.Join(s.known, ", ")
			if near := experiment.Suggest(f.name, slices.Concat(s.known, s.later)); near != "" {
				hint = "did you mean " + near + "?"
			}
			r.fault(f.at, f.value.path, errUnknownField, hint)
		}
	}
	return o
}

// want reports whether v is there and of the kind, and tells a fault if it is
// there and of another.
func (r *reader) want(v *value, k kind, hint string) bool {
	if v == nil || v.kind == broken {
		return false
	}
	if v.kind != k {
		r.faultAt(v, hint, "wants %v, has %v", k, v.kind)
		return false
	}
	return true
}

// require tells a fault for each named field that v lacks.
func (r *reader) require(v *value, o object, names ...string) {
	if v == nil || v.kind != mapping {
		return
	}
	for _, name := range names {
		if o[name] == nil && !v.has(name) {
			r.fault(v.at, join(v.path, name), errors.New("missing"), "")
		}
	}
}

// text gives a scalar verbatim.
func (r *reader) text(v *value) (string, bool) {
	hint := ""
	if v != nil && v.kind == null {
		hint = `write "" for the empty text`
	}
	if !r.want(v, scalar, hint) {
		return "", false
	}
	return v.text, true
}

// plain gives a scalar in which no reference may stand.
func (r *reader) plain(v *value) (string, bool) {
	s, ok := r.text(v)
	if ok && strings.Contains(s, "${") {
		r.faultAt(v, "", "no reference can stand here")
		return "", false
	}
	return s, ok
}

// template gives a scalar in which references may stand; otherwise the text of
// the default.
func (r *reader) template(v *value, otherwise string) experiment.Template {
	s, ok := r.text(v)
	if !ok {
		return experiment.Literal(otherwise)
	}
	t, err := experiment.ParseTemplate(s, v.at)
	if bad, ok := errors.AsType[*experiment.TemplateError](err); ok {
		r.fault(r.column(v, bad.Offset), v.path, bad.Err, bad.Hint)
		return experiment.Literal(otherwise)
	}
	return t
}

// unsaid is template for a text that says what is so anyway: said or not, it is the same.
func (r *reader) unsaid(v *value, anyway string) experiment.Template {
	t := r.template(v, "")
	if s, ok := t.Literal(); ok && s == anyway {
		return experiment.Template{}
	}
	return t
}

// column gives the position of a byte of a scalar, if the source shows that
// reference there, and else the scalar's own.
func (r *reader) column(v *value, offset int) experiment.Pos {
	at := v.at
	if !v.inLine || at.Line < 1 || at.Line > len(r.lines) {
		return at
	}
	line := []rune(r.lines[at.Line-1])
	for _, quote := range []int{0, 1} {
		col := at.Column + len([]rune(v.text[:offset])) + quote
		if col-1 < len(line) && strings.HasPrefix(string(line[col-1:]), "${") {
			at.Column = col
			return at
		}
	}
	return at
}

// items gives the values of a list.
func (r *reader) items(v *value, hint string) []*value {
	if !r.want(v, list, hint) {
		return nil
	}
	return v.items
}

// list gives the plain texts of a list.
func (r *reader) list(v *value, hint string) []string {
	var out []string
	for _, item := range r.items(v, hint) {
		if text, ok := r.plain(item); ok {
			out = append(out, text)
		}
	}
	return out
}

// names gives the fields of a mapping with free keys, in order.
func (r *reader) names(v *value, hint string) []field {
	if !r.want(v, mapping, hint) {
		return nil
	}
	return v.fields
}

func (r *reader) templates(v *value, hint string) []experiment.Template {
	var out []experiment.Template
	if items := r.items(v, hint); items != nil {
		out = make([]experiment.Template, 0, len(items))
		for _, item := range items {
			out = append(out, r.template(item, ""))
		}
	}
	return out
}

// parsed reads a plain scalar by a parser; otherwise is what an absent or faulty
// one gives.
func parsed[T any](r *reader, v *value, otherwise T, parse func(string) (T, error)) T {
	s, ok := r.plain(v)
	if !ok {
		return otherwise
	}
	got, err := parse(s)
	if err != nil {
		r.faultAt(v, "", "%w", err)
		return otherwise
	}
	return got
}

func (r *reader) duration(v *value, otherwise time.Duration) time.Duration {
	return parsed(r, v, otherwise, experiment.ParseDuration)
}

func (r *reader) count(v *value, otherwise, lo, hi int64) int {
	return int(parsed(r, v, otherwise, func(s string) (int64, error) { return experiment.ParseCount(s, lo, hi) }))
}

func (r *reader) boolean(v *value, otherwise bool) bool {
	return parsed(r, v, otherwise, func(s string) (bool, error) {
		if s != "true" && s != "false" {
			return false, fmt.Errorf("%q is neither true nor false", s)
		}
		return s == "true", nil
	})
}

// oneOf reads one of the words that this version has; the language's others are
// not yet built.
func (r *reader) oneOf(v *value, otherwise string, known, later []string) string {
	return parsed(r, v, otherwise, func(s string) (string, error) {
		switch {
		case slices.Contains(known, s):
			return s, nil
		case slices.Contains(later, s):
			return "", fmt.Errorf("%s is %w", s, experiment.ErrNotYet)
		case len(known)+len(later) == 1:
			return "", fmt.Errorf("%q is not %s", s, known[0])
		default:
			return "", fmt.Errorf("%q is none of %s", s, strings.Join(slices.Concat(known, later), ", "))
		}
	})
}

// address reads SERVICE:PORT.
func (r *reader) address(v *value) (service string, port int) {
	s, ok := r.plain(v)
	if !ok {
		return "", 0
	}
	service, p, _ := strings.Cut(s, ":")
	port, err := experiment.ParsePort(p)
	if err != nil || !experiment.ValidName(service) {
		r.faultAt(v, "as in app:8080", "%q is not SERVICE:PORT", s)
		return "", 0
	}
	return service, port
}
