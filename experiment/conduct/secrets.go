package conduct

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ceteris/ceteris/experiment"
)

// secrets are the caller's variables that a matrix uses, those that are set. Plans,
// hashes and what is stored hold their references; values are put in only where
// something is launched or asked, and masked in what comes back.
type secrets map[string]string

func (s secrets) value(ref experiment.Ref) (string, bool) {
	v, ok := s[ref.Name]
	return v, ok && ref.Kind == experiment.RefEnv
}

// unset reports whether a text depends on a variable that is not set. It is left out,
// with what it belongs to, as by a level that is null.
func (s secrets) unset(t experiment.Template) bool {
	return slices.ContainsFunc(t.Refs(), func(ref experiment.Ref) bool {
		_, ok := s[ref.Name]
		return ref.Kind == experiment.RefEnv && !ok
	})
}

func (s secrets) texts(all []experiment.Template) []experiment.Template {
	return slices.DeleteFunc(slices.Clone(all), s.unset)
}

func (s secrets) named(all []experiment.EnvVar) []experiment.EnvVar {
	return slices.DeleteFunc(slices.Clone(all), func(e experiment.EnvVar) bool { return s.unset(e.Value) })
}

// without gives the text, or none if it depends on a variable that is not set.
func (s secrets) without(t experiment.Template) experiment.Template {
	if s.unset(t) {
		return experiment.Template{}
	}
	return t
}

// service puts the variables into a service and its steps.
func (s secrets) service(svc experiment.Service) experiment.Service {
	svc.Command, svc.Env = s.texts(svc.Command), s.named(svc.Env)
	if svc.Ready != nil {
		ready := s.step(*svc.Ready)
		svc.Ready = &ready
	}
	svc.Confirm, svc.Prepare.Steps = s.steps(svc.Confirm), s.steps(svc.Prepare.Steps)
	svc.Collect = s.collect(svc.Collect)
	return svc.Resolve(s.value)
}

func (s secrets) steps(all []experiment.Step) []experiment.Step {
	out := slices.Clone(all)
	for i := range out {
		out[i] = s.step(out[i])
	}
	return out
}

func (s secrets) step(st experiment.Step) experiment.Step {
	st.Run, st.Has = s.texts(st.Run), s.without(st.Has)
	st.Is = slices.DeleteFunc(slices.Clone(st.Is), func(e experiment.Expected) bool { return s.unset(e.Value) })
	st.Near = slices.DeleteFunc(slices.Clone(st.Near), func(n experiment.Near) bool { return s.unset(n.Value) })
	return st.Resolve(s.value)
}

func (s secrets) collect(all []experiment.Collect) []experiment.Collect {
	out := slices.Clone(all)
	for i := range out {
		out[i].Step = s.step(out[i].Step)
	}
	return out
}

// load puts the variables into the requests.
func (s secrets) load(l experiment.Load) experiment.Load {
	l.Requests = slices.Clone(l.Requests)
	for i := range l.Requests {
		q := &l.Requests[i]
		q.Path, q.Body, q.Has = q.Path.Resolve(s.value), s.without(q.Body).Resolve(s.value), s.without(q.Has).Resolve(s.value)
		q.Headers = s.named(q.Headers)
		for j := range q.Headers {
			q.Headers[j].Value = q.Headers[j].Value.Resolve(s.value)
		}
	}
	return l
}

// Lacking names the texts of a plan that cannot be left out and depend on a variable of
// the caller that is not among values. The error wraps experiment.ErrCannotRun.
func Lacking(p experiment.CellPlan, values map[string]string) error {
	var errs []error
	check := func(where string, t experiment.Template) {
		if secrets(values).unset(t) {
			errs = append(errs, fmt.Errorf("%s: %s: a variable that is not set cannot be left out here: %w", where, t, experiment.ErrCannotRun))
		}
	}
	steps := func(where string, all []experiment.Step) {
		for _, st := range all {
			check(where, st.Image)
			check(where, st.HTTP)
			check(where, st.File)
		}
	}
	for _, svc := range p.Launched() {
		for _, f := range svc.Files {
			check("service "+svc.Name+": files", f.Content)
		}
		for _, sc := range svc.Scrape {
			check("service "+svc.Name+": scrape", sc.URL)
		}
		steps("service "+svc.Name, stepsOf(svc))
	}
	steps("prepare", p.Prepare)
	for _, c := range p.Collect {
		steps("collect", []experiment.Step{c.Step})
	}
	for _, q := range p.Load.Requests {
		check("load: path", q.Path)
	}
	return errors.Join(errs...)
}

// mask hides the values in everything of an outcome that is text.
func (s secrets) mask(o *experiment.Outcome) {
	hide := experiment.NewMask(slices.Collect(maps.Values(s))).Text
	o.Run.Reason = hide(o.Run.Reason)
	for i := range o.Confirmations {
		c := &o.Confirmations[i]
		c.Want, c.Got = hide(c.Want), hide(c.Got)
	}
	for i := range o.Result.Notes {
		o.Result.Notes[i].Text = hide(o.Result.Notes[i].Text)
	}
	for i := range o.Result.Unknown {
		o.Result.Unknown[i].Why = hide(o.Result.Unknown[i].Why)
	}
	if len(s) == 0 {
		return // logs need not be copied
	}
	for i := range o.Artifacts {
		o.Artifacts[i].Body = []byte(hide(string(o.Artifacts[i].Body)))
	}
}
