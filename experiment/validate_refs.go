package experiment

import (
	"fmt"
	"slices"
	"strings"
)

// forms says which references may stand in a text, beside factors.
type forms struct{ self, addr, file, env, perRequest bool }

// text is a text of the matrix in which references may stand.
type text struct {
	Template
	path    string
	service string // empty outside services
	only    []Only // of the part in which it stands, the service's included
	forms   forms
}

// texts lists every text in which references may stand, those of variants too.
func (m *Matrix) texts() []text {
	out := textsOf(m.Subject, m.Load)
	for _, v := range m.Variants {
		out = append(out, textsOf(v.Subject, v.Load)...)
	}
	add := func(path string, t Template, fs forms, only []Only) {
		out = append(out, text{Template: t, path: path, forms: fs, only: only})
	}
	for i, s := range m.Prepare {
		s.texts(fmt.Sprintf("prepare[%d]", i), forms{addr: true, env: true}, add)
	}
	for i, c := range m.Collect {
		c.texts(fmt.Sprintf("collect[%d]", i), forms{addr: true, env: true}, add)
	}
	return out
}

func textsOf(subject Subject, load LoadSpec) []text {
	var out []text
	for _, s := range subject.Services {
		out = append(out, s.texts("subject.services."+s.Name)...)
	}
	for i, l := range subject.Links {
		out = append(out, text{Template: l.Latency, path: fmt.Sprintf("subject.links[%d].latency", i)})
	}
	return append(out, load.texts()...)
}

func (l *LoadSpec) texts() []text {
	var out []text
	add := func(path string, t Template, fs forms) { out = append(out, text{Template: t, path: path, forms: fs}) }
	perRequest := forms{perRequest: true, env: true}
	for i, q := range l.Requests {
		at := requestPath(l.Requests, i)
		add(at+".path", q.Path, perRequest)
		add(at+".body", q.Body, perRequest)
		add(at+".weight", q.Weight, forms{})
		add(at+".expect.has", q.Expect.Has, forms{})
		for _, h := range q.Headers {
			add(at+".headers."+h.Name, h.Value, perRequest)
		}
	}
	shape := func(at string, c *ClosedSpec, o *OpenSpec) {
		if c != nil {
			add(at+".closed.users", c.Users, forms{})
			add(at+".closed.think", c.Think, forms{})
		}
		if o != nil {
			add(at+".open.rate", o.Rate, forms{})
			add(at+".open.in_flight", o.InFlight, forms{})
		}
	}
	shape("load", l.Closed, l.Open)
	for i, s := range l.Streams {
		at := fmt.Sprintf("load.streams[%d]", i)
		add(at+".after", s.After, forms{})
		shape(at, nil, &s.Open)
	}
	for i, p := range l.Phases {
		at := fmt.Sprintf("load.phases[%d]", i)
		shape(at, p.Closed, p.Open)
		add(at+".for", p.For, forms{})
		add(at+".ramp", p.Ramp, forms{})
	}
	if g := l.generator(); g != nil {
		out = append(out, g.texts("load")...)
		add("load.within", l.External.Within, forms{})
	}
	add("load.ramp", l.Ramp, forms{})
	add("load.warmup", l.Warmup.For, forms{})
	add("load.warmup.at_least", l.Warmup.AtLeast, forms{})
	add("load.warmup.at_most", l.Warmup.AtMost, forms{})
	add("load.measure", l.Measure.For, forms{})
	add("load.measure.requests", l.Measure.Requests, forms{})
	add("load.measure.at_most", l.Measure.AtMost, forms{})
	add("load.timeout", l.Timeout, forms{})
	add("load.connections", l.Connects, forms{})
	return out
}

func (s *ServiceSpec) texts(path string) []text {
	var out []text
	adder := func(at string, t Template, fs forms, only []Only) {
		out = append(out, text{Template: t, path: at, service: s.Name, only: slices.Concat(s.Only, only), forms: fs})
	}
	add := func(at string, t Template, fs forms) { adder(at, t, fs, nil) }
	own := forms{self: s.Name != GeneratorName, addr: true, file: true, env: true} // what the runner and the conductor fill in at launch
	body := func(at string, command []Template, env []EnvVar, files []FileSpec, limits LimitsSpec, ready *Step, confirm []Step) {
		for i, c := range command {
			add(fmt.Sprintf("%s.command[%d]", at, i), c, own)
		}
		for _, e := range env {
			add(at+".env."+e.Name, e.Value, own)
		}
		for _, f := range files {
			add(at+".files."+f.Path, f.Content, own)
		}
		add(at+".limits.cpus", limits.CPUs, forms{})
		add(at+".limits.memory", limits.Memory, forms{})
		add(at+".limits.pids", limits.PIDs, forms{})
		if ready != nil {
			ready.texts(at+".ready", own, adder)
		}
		for i, c := range confirm {
			c.texts(fmt.Sprintf("%s.confirm[%d]", at, i), own, adder)
		}
	}
	add(path+".image", s.Image, forms{})
	body(path, s.Command, s.Env, s.Files, s.Limits, s.Ready, s.Confirm)
	if p := s.Process; p != nil {
		body(path+".process", p.Command, p.Env, p.Files, p.Limits, p.Ready, p.Confirm)
	}
	add(path+".replicas", s.Replicas, forms{})
	if s.Build != nil {
		for _, a := range s.Build.Args {
			add(path+".build.args."+a.Name, a.Value, forms{})
		}
	}
	for i, v := range s.Mounts {
		add(fmt.Sprintf("%s.mounts[%d]", path, i), v.Source, forms{})
	}
	s.Container.texts(path+".container", add)
	for i, st := range s.Prepare.Steps {
		st.texts(fmt.Sprintf("%s.prepare[%d]", path, i), own, adder)
	}
	for i, c := range s.Collect {
		c.texts(fmt.Sprintf("%s.collect[%d]", path, i), own, adder)
	}
	for i, sc := range s.Scrape {
		add(fmt.Sprintf("%s.scrape[%d].url", path, i), sc.URL, forms{})
	}
	return out
}

func (c ContainerSpec) texts(path string, add func(string, Template, forms)) {
	for i, t := range c.Tmpfs {
		add(fmt.Sprintf("%s.tmpfs[%d]", path, i), t, forms{})
	}
	add(path+".shm_size", c.ShmSize, forms{})
	add(path+".platform", c.Platform, forms{})
	add(path+".user", c.User, forms{})
	for _, u := range c.Ulimits {
		add(path+".ulimits."+u.Name, u.Soft, forms{})
		add(path+".ulimits."+u.Name, u.Hard, forms{})
	}
	for _, e := range c.Sysctls {
		add(path+".sysctls."+e.Name, e.Value, forms{})
	}
}

func (s Step) texts(path string, run forms, add func(string, Template, forms, []Only)) {
	add(path+".image", s.Image, forms{}, s.Only)
	for i, t := range s.Run {
		add(fmt.Sprintf("%s.run[%d]", path, i), t, run, s.Only)
	}
	add(path+".http", s.HTTP, forms{}, s.Only)
	add(path+".file", s.File, forms{file: run.file}, s.Only)
	add(path+".has", s.Has, forms{}, s.Only)
	for _, e := range s.Is {
		add(path+".is."+e.Name, e.Value, forms{}, s.Only)
	}
	for _, n := range s.Near {
		add(path+".near."+n.Name, n.Value, forms{}, s.Only)
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
	for _, t := range m.texts() {
		for _, ref := range t.Refs() {
			m.checkReference(f, t, ref)
		}
	}
}

// checkUse wants every factor to be good for something: to be mentioned, to put
// something in place, or to decide where something exists.
func (m *Matrix) checkUse(f *faults) {
	used := map[string]bool{}
	for _, t := range m.texts() {
		for _, ref := range t.Refs() {
			used[ref.Name] = used[ref.Name] || ref.Kind == RefFactor
		}
	}
	for _, o := range m.onlys() {
		used[o.Factor] = true
	}
	for _, fa := range m.Factors {
		sets := slices.ContainsFunc(fa.Levels, func(l Level) bool { return l.Set })
		if path := "factors." + fa.Name; !used[fa.Name] && !sets && !f.at(path) {
			f.lack(everything, fa.At, path, "write ${"+fa.Name+"} where it belongs", "used nowhere")
		}
	}
}

func (m *Matrix) checkReference(f *faults, t text, ref Ref) {
	switch ref.Kind {
	case RefFactor:
		m.checkFactorRef(f, t, ref)
	case RefRandom:
		if !t.forms.perRequest {
			f.add(t.At, t.path, "", "%s may stand in path, headers and body of a request only: it is drawn for each", ref)
		}
	case RefData:
		m.checkData(f, t, ref)
	case RefEnv:
		if !t.forms.env {
			f.add(t.At, t.path, "", "%s may stand in command, env and files of a service, in run of a step, and in requests only", ref)
		}
	case RefSelf:
		switch s := m.service(t.service); {
		case !t.forms.self:
			f.add(t.At, t.path, "", "%s may stand in command, env, files and run of a service only", ref)
		case !slices.Contains(s.Ports, ref.Port):
			f.lack("subject.services."+s.Name, t.At, t.path, "", "%s: service %s declares no port %d", ref, s.Name, ref.Port)
		}
	case RefFile:
		m.checkFile(f, t, ref)
	case RefAddr:
		m.checkAddr(f, t, ref)
	}
}

func (m *Matrix) checkFactorRef(f *faults, t text, ref Ref) {
	i := m.factorIndex(ref.Name)
	if i < 0 {
		f.lack("factors", t.At, t.path, didYouMean(ref.Name, m.factorNames()), "%s: there is no such factor", ref)
		return
	}
	if ref.Key == "" {
		return
	}
	var keys []string
	for _, l := range m.Factors[i].Levels {
		for _, kv := range l.Is {
			if !slices.Contains(keys, kv.Key) {
				keys = append(keys, kv.Key)
			}
		}
	}
	if !slices.Contains(keys, ref.Key) {
		f.lack("factors."+ref.Name, t.At, t.path, didYouMean(ref.Key, keys), "%s: no level of %s has the key %s", ref, ref.Name, ref.Key)
	}
}

func (m *Matrix) checkData(f *faults, t text, ref Ref) {
	switch data := m.Load.Data; {
	case !t.forms.perRequest:
		f.add(t.At, t.path, "", "%s may stand in path, headers and body of a request only", ref)
	case data == nil:
		f.lack("load", t.At, t.path, "as in data: {file: users.csv}", "%s: the load has no data", ref)
	case !slices.Contains(data.Columns, ref.Name):
		f.lack("load.data", t.At, t.path, didYouMean(ref.Name, data.Columns), "%s: %s has no such column", ref, data.File)
	}
}

// checkFile wants a path that the service declares: of its files, or below one of its
// volumes.
func (m *Matrix) checkFile(f *faults, t text, ref Ref) {
	s := m.launched(t.service)
	switch {
	case !t.forms.file || s == nil:
		f.add(t.At, t.path, "", "%s may stand in command, env, files and steps of a service only", ref)
	case !s.hasPath(ref.Name):
		f.lack(s.part(), t.At, t.path, s.declares(), "%s: service %s has no such file", ref, s.Name)
	}
}

func (s *ServiceSpec) hasPath(path string) bool {
	of := func(f FileSpec) bool { return f.Path == path }
	return path == s.Output && path != "" || slices.ContainsFunc(s.Files, of) || s.Process != nil && slices.ContainsFunc(s.Process.Files, of) ||
		slices.ContainsFunc(s.Volumes, func(v Volume) bool { return path == v.Target || strings.HasPrefix(path, v.Target+"/") })
}

// part is the path at which the service is declared.
func (s *ServiceSpec) part() string {
	if s.Name == GeneratorName {
		return "load"
	}
	return "subject.services." + s.Name
}

// declares says where a service names paths.
func (s *ServiceSpec) declares() string {
	if s.Name == GeneratorName {
		return "declare it under files, or as output"
	}
	return "declare it under files or volumes"
}

func (m *Matrix) checkAddr(f *faults, t text, ref Ref) {
	switch {
	case !t.forms.addr:
		f.add(t.At, t.path, "", "%s may stand in command, env, files and run of a service only", ref)
	case ref.Name == t.service:
		f.add(t.At, t.path, fmt.Sprintf("write ${self:%d}", ref.Port), "%s: a service does not address itself", ref)
	case !m.checkPort(f, t.At, t.path, ref.Name, ref.Port):
	case t.service == GeneratorName:
		if m.service(ref.Name).Job {
			f.add(t.At, t.path, "", "%s: service %s is a job: it has ended before the load begins", ref, ref.Name)
		}
	case t.service != "" && !m.needs(t.service, ref.Name, map[string]bool{}):
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
