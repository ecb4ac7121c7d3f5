package experiment

import (
	"fmt"
	"slices"
	"strings"
)

// forms says which references may stand in a text, beside factors.
type forms struct{ self, addr, random bool }

// text is a text of the matrix in which references may stand.
type text struct {
	Template
	path    string
	service string // empty outside services
	forms   forms
}

// texts lists every text in which references may stand.
func (m *Matrix) texts() []text {
	var out []text
	for _, s := range m.Subject.Services {
		out = append(out, s.texts("subject.services."+s.Name)...)
	}
	add := func(path string, t Template, fs forms) { out = append(out, text{Template: t, path: path, forms: fs}) }
	for i, l := range m.Subject.Links {
		add(fmt.Sprintf("subject.links[%d].latency", i), l.Latency, forms{})
	}
	l := m.Load
	add("load.request.path", l.Path, forms{random: true})
	if l.Closed != nil {
		add("load.closed.users", l.Closed.Users, forms{})
		add("load.closed.think", l.Closed.Think, forms{})
	}
	if l.Open != nil {
		add("load.open.rate", l.Open.Rate, forms{})
		add("load.open.in_flight", l.Open.InFlight, forms{})
	}
	add("load.ramp", l.Ramp, forms{})
	add("load.warmup", l.Warmup, forms{})
	add("load.measure", l.Measure, forms{})
	add("load.timeout", l.Timeout, forms{})
	add("load.connections", l.Connects, forms{})
	return out
}

func (s *ServiceSpec) texts(path string) []text {
	var out []text
	add := func(at string, t Template, fs forms) { out = append(out, text{t, at, s.Name, fs}) }
	own := forms{self: true, addr: true} // what the runner and the conductor fill in at launch
	body := func(at string, command []Template, env []EnvVar, limits LimitsSpec, ready *Step, confirm []Step) {
		for i, c := range command {
			add(fmt.Sprintf("%s.command[%d]", at, i), c, own)
		}
		for _, e := range env {
			add(at+".env."+e.Name, e.Value, own)
		}
		add(at+".limits.cpus", limits.CPUs, forms{})
		add(at+".limits.memory", limits.Memory, forms{})
		add(at+".limits.pids", limits.PIDs, forms{})
		if ready != nil {
			ready.texts(at+".ready", own, add)
		}
		for i, c := range confirm {
			c.texts(fmt.Sprintf("%s.confirm[%d]", at, i), forms{addr: true}, add)
		}
	}
	add(path+".image", s.Image, forms{})
	body(path, s.Command, s.Env, s.Limits, s.Ready, s.Confirm)
	if p := s.Process; p != nil {
		body(path+".process", p.Command, p.Env, p.Limits, p.Ready, p.Confirm)
	}
	return out
}

func (s Step) texts(path string, run forms, add func(string, Template, forms)) {
	for i, t := range s.Run {
		add(fmt.Sprintf("%s.run[%d]", path, i), t, run)
	}
	add(path+".http", s.HTTP, forms{})
	add(path+".has", s.Has, forms{})
	for _, e := range s.Is {
		add(path+".is."+e.Name, e.Value, forms{})
	}
}

// uses reports whether a text of the service holds the reference.
func (m *Matrix) uses(service string, ref Ref) bool {
	s := m.service(service)
	return slices.ContainsFunc(s.texts(""), func(t text) bool { return slices.Contains(t.Refs(), ref) })
}

func (m *Matrix) factorNames() []string {
	var names []string
	for _, fa := range m.Factors {
		names = append(names, fa.Name)
	}
	return names
}

// everything is the part that holds all others.
const everything = "."

// checkReferences wants every reference to be known, and to stand where somebody
// resolves it.
func (m *Matrix) checkReferences(f *faults) {
	used := map[string]bool{}
	for _, t := range m.texts() {
		for _, ref := range t.Refs() {
			used[ref.Name] = used[ref.Name] || ref.Kind == RefFactor
			m.checkReference(f, t, ref)
		}
	}
	for _, fa := range m.Factors {
		if path := "factors." + fa.Name; !used[fa.Name] && !f.at(path) {
			f.lack(everything, fa.At, path, "write ${"+fa.Name+"} where it belongs", "used nowhere")
		}
	}
}

func (m *Matrix) checkReference(f *faults, t text, ref Ref) {
	switch ref.Kind {
	case RefFactor:
		if !slices.Contains(m.factorNames(), ref.Name) {
			f.lack("factors", t.At, t.path, didYouMean(ref.Name, m.factorNames()), "%s: there is no such factor", ref)
		}
	case RefRandom:
		if !t.forms.random {
			f.add(t.At, t.path, "", "%s may stand in the load's path only: it is drawn for each request", ref)
		}
	case RefSelf:
		switch s := m.service(t.service); {
		case !t.forms.self:
			f.add(t.At, t.path, "", "%s may stand in command, env and ready.run of a service only", ref)
		case !slices.Contains(s.Ports, ref.Port):
			f.lack("subject.services."+s.Name, t.At, t.path, "", "%s: service %s declares no port %d", ref, s.Name, ref.Port)
		}
	case RefAddr:
		m.checkAddr(f, t, ref)
	}
}

func (m *Matrix) checkAddr(f *faults, t text, ref Ref) {
	switch {
	case !t.forms.addr:
		f.add(t.At, t.path, "", "%s may stand in command, env and run of a service only", ref)
	case ref.Name == t.service:
		f.add(t.At, t.path, fmt.Sprintf("write ${self:%d}", ref.Port), "%s: a service does not address itself", ref)
	case m.checkPort(f, t.At, t.path, ref.Name, ref.Port) && !m.needs(t.service, ref.Name, map[string]bool{}):
		f.lack("subject.services", t.At, t.path, "add "+ref.Name+" to needs", "%s: %s may not be running yet", ref, ref.Name)
	}
}

// needs reports whether the service needs the other one, be it through others.
func (m *Matrix) needs(service, other string, seen map[string]bool) bool {
	s := m.service(service)
	if s == nil || seen[service] {
		return false
	}
	seen[service] = true
	return slices.ContainsFunc(s.Needs, func(n string) bool { return n == other || m.needs(n, other, seen) })
}

// formNames cannot name factors: ${self} and ${self:8080} would mean two things.
func formNames() []string {
	return []string{"self", "addr", "random", "file", "env", "data"}
}

func (m *Matrix) checkFactors(f *faults) {
	for i, fa := range m.Factors {
		path := "factors." + fa.Name
		switch {
		case slices.Contains(formNames(), fa.Name):
			f.add(fa.At, path, "", "the name is that of a form, as in ${%s:...}", fa.Name)
		case slices.Contains(m.factorNames()[:i], fa.Name):
			f.add(fa.At, path, "", "there is a factor of this name already")
		default:
			checkWord(f, fa.At, path, fa.Name)
		}
		if len(fa.Levels) < 2 {
			f.lack(path, fa.At, path, "", "has fewer than two levels: nothing is varied")
		}
		if fa.Baseline < 0 || fa.Baseline >= max(len(fa.Levels), 1) {
			f.add(fa.At, path+".baseline", "", "level %d of %d is the baseline", fa.Baseline, len(fa.Levels))
		}
		seen := map[string]bool{}
		for j, l := range fa.Levels {
			at := fmt.Sprintf("%s.levels[%d]", path, j)
			if seen[l.Text] {
				f.add(l.At, at, "", "level %q is given twice", l.Text)
			}
			if strings.ContainsFunc(l.Text, func(c rune) bool { return c < ' ' || c == 0x7f }) {
				f.add(l.At, at, "", "level %q holds a control character", l.Text)
			}
			seen[l.Text] = true
		}
	}
}
