package experiment

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// CodeLevelOutOfReach warns of a level that the load cannot fill.
const CodeLevelOutOfReach = "level-out-of-reach"

// CodeUnconfirmed warns of a varied factor that no confirm step mentions.
const CodeUnconfirmed = "unconfirmed"

// Warning is advice about a matrix that is valid.
type Warning struct {
	Code string
	FieldError
}

func (w *Warning) Error() string { return w.FieldError.Error() + " [" + w.Code + "]" }

// Warnings gives the advice about a valid matrix, in order of declaration.
func (m *Matrix) Warnings() []*Warning {
	var out []*Warning
	for i := range m.Factors {
		out = append(out, m.outOfReach(i)...)
		if fa := m.Factors[i]; !m.confirmed(fa.Name) {
			out = append(out, &Warning{CodeUnconfirmed, FieldError{
				At: fa.At, Path: "factors." + fa.Name,
				Err: fmt.Errorf("no confirm step shows that the setting arrives"),
			}})
		}
	}
	return out
}

// capacityName matches what bounds how many requests are served at once. That
// cannot be known in general; these are the names that people give it.
var capacityName = regexp.MustCompile(`(?i)thread|worker|pool`)

// outOfReach finds the levels of a capacity that exceed what the load ever keeps
// under way in the same cell.
func (m *Matrix) outOfReach(factor int) []*Warning {
	fa := m.Factors[factor]
	if !m.isCapacity(fa.Name) {
		return nil
	}
	var out []*Warning
	for l := range fa.Levels {
		n, err := strconv.Atoi(fa.Levels[l].Text)
		base := m.combined(nil, nil)
		p, planErr := m.Plan(m.cell(MainStage, RoleVaried, base, base.with(factor, l)))
		if err != nil || planErr != nil {
			continue
		}
		most, what := p.Load.concurrency(), "requests in flight"
		if p.Load.Closed != nil {
			what = "users"
		}
		if !p.Load.None && n > most {
			out = append(out, &Warning{CodeLevelOutOfReach, FieldError{
				At:   fa.Levels[l].At,
				Path: fmt.Sprintf("factors.%s.levels[%d]", fa.Name, l),
				Err:  fmt.Errorf("%d %s under %d %s: the rest of them can never be busy", n, fa.Name, most, what),
			}})
		}
	}
	return out
}

// isCapacity goes by the factor's name, and by the variables that it alone fills.
func (m *Matrix) isCapacity(factor string) bool {
	if capacityName.MatchString(factor) {
		return true
	}
	alone := "${" + factor + "}"
	return slices.ContainsFunc(m.Subject.Services, func(s ServiceSpec) bool {
		return slices.ContainsFunc(s.Env, func(e EnvVar) bool {
			return e.Value.String() == alone && capacityName.MatchString(e.Name)
		})
	})
}

// confirmed reports whether an expectation of a confirm step depends on the factor.
// What varies the load needs no confirmation: it is counted.
func (m *Matrix) confirmed(factor string) bool {
	mentions := func(t Template) bool {
		return slices.ContainsFunc(t.Refs(), func(r Ref) bool { return r.Kind == RefFactor && r.Name == factor })
	}
	steps := func(all []Step) bool {
		return slices.ContainsFunc(all, func(s Step) bool {
			return mentions(s.Has) || slices.ContainsFunc(s.Is, func(e Expected) bool { return mentions(e.Value) }) ||
				slices.ContainsFunc(s.Near, func(n Near) bool { return mentions(n.Value) })
		})
	}
	inSubject := slices.ContainsFunc(m.texts(), func(t text) bool { return t.service != "" && mentions(t.Template) })
	if !inSubject && !m.setsSubject(factor) {
		return true
	}
	services := slices.Clone(m.Subject.Services)
	for _, v := range m.Variants {
		services = append(services, v.Subject.Services...)
	}
	return slices.ContainsFunc(services, func(s ServiceSpec) bool {
		return steps(s.Confirm) || s.Process != nil && steps(s.Process.Confirm)
	})
}

// setsSubject reports whether a level of the factor, and of no other, puts something
// else into the subject.
func (m *Matrix) setsSubject(factor string) bool {
	declared := HashJSON(m.Subject)
	return slices.ContainsFunc(m.Variants, func(v Variant) bool {
		alone := !slices.ContainsFunc(v.When, func(s Setting) bool { return m.sets(s) != (s.Factor == factor) })
		return alone && HashJSON(v.Subject) != declared
	})
}

// sets reports whether a level has an overlay.
func (m *Matrix) sets(s Setting) bool {
	f := m.factorIndex(s.Factor)
	return f >= 0 && slices.ContainsFunc(m.Factors[f].Levels, func(l Level) bool { return l.Text == s.Level && l.Set })
}
