package experiment

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// CodeLevelOutOfReach warns of a level that the load cannot fill.
const CodeLevelOutOfReach = "level-out-of-reach"

// CodeUnconfirmed warns of a varied factor that no confirm step mentions.
const CodeUnconfirmed = "unconfirmed"

// CodeVariedLoad warns of a factor that varies the load, which is then part of what is
// compared.
const CodeVariedLoad = "varied-load"

// CodeSurvivesRuns warns of a path of the host inside a service.
const CodeSurvivesRuns = "survives-runs"

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
		if fa := m.Factors[i]; !m.isCondition(fa.Name) && m.variesLoad(fa.Name) {
			out = append(out, &Warning{CodeVariedLoad, FieldError{
				At: fa.At, Path: "factors." + fa.Name,
				Err: fmt.Errorf("it varies the load, so the work differs between the cells that are compared"), Hint: "as a condition (across) it would not",
			}})
		}
	}
	return append(out, m.survivors()...)
}

// survivors finds what a run finds as the one before left it.
func (m *Matrix) survivors() []*Warning {
	var out []*Warning
	for _, s := range m.everyService() {
		for i, v := range s.Mounts {
			err := fmt.Errorf("%s survives runs: what one of them writes there, the next one finds", v.Source)
			if v.ReadOnly {
				err = fmt.Errorf("%s survives runs, and is no part of what makes a sweep another", v.Source)
			}
			out = append(out, &Warning{CodeSurvivesRuns, FieldError{At: v.At, Path: fmt.Sprintf("%s.mounts[%d]", s.part(), i), Err: err}})
		}
	}
	return out
}

// variesLoad reports whether the load depends on the factor.
func (m *Matrix) variesLoad(factor string) bool {
	mentioned := slices.ContainsFunc(m.texts(), func(t text) bool {
		return strings.HasPrefix(t.path, "load.") && slices.ContainsFunc(t.Refs(), func(r Ref) bool { return r.Kind == RefFactor && r.Name == factor })
	})
	return mentioned || m.changes(factor, func(v Variant) bool { return HashJSON(v.Load) != HashJSON(m.Load) })
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
		most, what := p.Load.Concurrency(), "requests in flight"
		if p.Load.Closed != nil {
			what = "users"
		}
		if !p.Load.None && p.Load.External == nil && n > most {
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
	inSubject := slices.ContainsFunc(m.texts(), func(t text) bool { return t.service != "" && t.service != GeneratorName && mentions(t.Template) })
	if !inSubject && !m.changes(factor, func(v Variant) bool { return HashJSON(v.Subject) != HashJSON(m.Subject) }) {
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

// changes reports whether an overlay of the factor, and of no other, does something to
// what is declared.
func (m *Matrix) changes(factor string, does func(Variant) bool) bool {
	return slices.ContainsFunc(m.Variants, func(v Variant) bool {
		alone := !slices.ContainsFunc(v.When, func(s Setting) bool { return m.sets(s) != (s.Factor == factor) })
		return alone && does(v)
	})
}

// sets reports whether a level has an overlay.
func (m *Matrix) sets(s Setting) bool {
	f := m.factorIndex(s.Factor)
	return f >= 0 && slices.ContainsFunc(m.Factors[f].Levels, func(l Level) bool { return l.Text == s.Level && l.Set })
}
