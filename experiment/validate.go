package experiment

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// MaxRounds bounds the rounds of a sweep.
const MaxRounds = 1000

// MaxCells bounds the cells of a sweep.
const MaxCells = 1000

// Bounds of a matrix.
const (
	minConfidence = 0.5
	maxConfidence = 0.9999
	maxNameLength = 63 // of a DNS label
)

// faults collects what is wrong with a matrix.
type faults struct{ list []*FieldError }

func (f *faults) add(at Pos, path, hint, format string, args ...any) {
	f.list = append(f.list, &FieldError{At: at, Path: path, Err: fmt.Errorf(format, args...), Hint: hint})
}

// lack is add for what is not to be found in the part at path lacking.
func (f *faults) lack(lacking string, at Pos, path, hint, format string, args ...any) {
	f.add(at, path, hint, format, args...)
	f.list[len(f.list)-1].Lacking = lacking
}

// at reports whether a fault of this path is known already.
func (f *faults) at(path string) bool {
	return slices.ContainsFunc(f.list, func(e *FieldError) bool { return e.Path == path })
}

// merge takes what is at fault in a view, unless the view before said the same.
func (f *faults) merge(list []*FieldError, variant int) {
	before := map[string]bool{}
	for _, e := range f.list {
		before[e.Path+"\n"+e.Err.Error()] = true
	}
	for _, e := range list {
		if !before[e.Path+"\n"+e.Err.Error()] {
			e.Variant = variant
			f.list = append(f.list, e)
		}
	}
}

// view is a matrix as it is in some of its cells: as declared, or one of its variants.
type view struct {
	*Matrix
	number int    // of the variant, from 1; 0: as declared
	cells  []Cell // none where the cells of the matrix cannot be made
	whole  *Matrix
}

// views gives the matrix as declared, unless no cell is so, and each of its variants.
func (m *Matrix) views() []view {
	out := []view{{Matrix: m, whole: m}}
	for i, v := range m.Variants {
		one := *m
		one.Subject, one.Load, one.Variants = v.Subject, v.Load, nil
		out = append(out, view{Matrix: &one, number: i + 1, whole: m})
	}
	if !m.countable() {
		return out
	}
	for _, c := range m.Cells() {
		i := slices.IndexFunc(m.Variants, func(v Variant) bool { return c.has(v.When) }) + 1
		out[i].cells = append(out[i].cells, c)
	}
	if len(m.Variants) > 0 {
		declared := *m
		declared.Variants = nil
		out[0].Matrix = &declared
		if len(out[0].cells) == 0 {
			out = out[1:]
		}
	}
	return out
}

// Validate checks a matrix whose runner need not be resolved, in every cell. The
// error joins every *FieldError, sorted by position.
func (m *Matrix) Validate() error {
	var f faults
	m.checkName(&f)
	m.checkFactors(&f)
	m.checkDesign(&f)
	m.checkRules(&f)
	views := m.views()
	for _, v := range views {
		var g faults
		v.check(&g)
		f.merge(g.list, v.number)
	}
	m.checkUse(&f)
	unsound := slices.ContainsFunc(m.onlys(), func(o Only) bool { return m.factorIndex(o.Factor) < 0 })
	for _, v := range views {
		var g faults
		if !unsound { // it is known where things exist
			v.checkPlaces(&g, f.list)
		}
		v.checkValues(&g, f.list)
		f.merge(g.list, v.number)
	}
	return JoinFieldErrors(f.list)
}

// check checks subject, load and what refers to them.
func (v view) check(f *faults) {
	v.checkServices(f)
	v.checkNeeds(f)
	v.checkLinks(f)
	v.checkLoad(f)
	v.checkTopSteps(f)
	v.checkReferences(f)
	v.checkMetrics(f)
}

// ValidateRunner is Validate for a matrix that went through ForRunner: it also
// checks that every service can be started there, and that every factor still
// reaches something.
func (m *Matrix) ValidateRunner() error {
	var f faults
	if m.Runner == RunnerAuto || m.Runner == "" {
		f.add(Pos{File: m.Origin.File}, "runner", "", "no runner is chosen")
		return JoinFieldErrors(f.list)
	}
	if m.Runner == RunnerProcess {
		for _, v := range m.views() {
			var g faults
			v.checkProcesses(&g)
			f.merge(g.list, v.number)
		}
	}
	return JoinFieldErrors(append(f.list, FieldErrors(m.Validate())...))
}

var hashLike = regexp.MustCompile(`^[0-9a-fA-F]{6,}$`)

func (m *Matrix) checkName(f *faults) {
	at := Pos{File: m.Origin.File}
	switch {
	case m.Name == "latest":
		f.add(at, "name", "", `"latest" means the newest sweep`)
	case hashLike.MatchString(m.Name):
		f.add(at, "name", "", "%q could be the beginning of a sweep's hash", m.Name)
	default:
		checkWord(f, at, "name", m.Name)
	}
	if !slices.Contains([]string{RunnerAuto, RunnerDocker, RunnerProcess, RunnerFake}, m.Runner) {
		f.add(at, "runner", "", "%q is no runner", m.Runner)
	}
}

func checkWord(f *faults, at Pos, path, name string) {
	if !ValidName(name) || len(name) > maxNameLength {
		f.add(at, path, "a letter, then at most 62 letters, digits, _ and -", "%q is no name", name)
	}
}

func reservedNames() []string {
	return []string{GeneratorName, LinkProxyName, EngineName, HostName, ConductorName}
}

// everyService lists the services in order of declaration, and the generator if it is
// one of others.
func (m *Matrix) everyService() []*ServiceSpec {
	var all []*ServiceSpec
	for i := range m.Subject.Services {
		all = append(all, &m.Subject.Services[i])
	}
	if g := m.Load.generator(); g != nil {
		all = append(all, g)
	}
	return all
}

// serviceNames lists the services in order of declaration.
func (m *Matrix) serviceNames() []string {
	var names []string
	for _, s := range m.Subject.Services {
		names = append(names, s.Name)
	}
	return names
}

func (m *Matrix) service(name string) *ServiceSpec { return m.Subject.service(name) }

func (s *Subject) service(name string) *ServiceSpec {
	for i := range s.Services {
		if s.Services[i].Name == name {
			return &s.Services[i]
		}
	}
	return nil
}

// checkPort wants a known service that declares the port.
func (m *Matrix) checkPort(f *faults, at Pos, path, service string, port int) bool {
	s := m.service(service)
	switch {
	case s == nil:
		f.lack("subject.services", at, path, didYouMean(service, m.serviceNames()), "there is no service %q", service)
	case !slices.Contains(s.Ports, port):
		f.lack("subject.services."+service, at, path, "", "service %s declares no port %d", service, port)
	default:
		return true
	}
	return false
}

func (m *Matrix) checkNeeds(f *faults) {
	for _, s := range m.Subject.Services {
		for i, n := range s.Needs {
			path := fmt.Sprintf("subject.services.%s.needs[%d]", s.Name, i)
			switch {
			case m.service(n) == nil:
				f.lack("subject.services", s.At, path, didYouMean(n, m.serviceNames()), "there is no service %q", n)
			case slices.Contains(s.Needs[:i], n):
				f.add(s.At, path, "", "%s is named twice", n)
			}
		}
	}
	if cycle := m.needsCycle(); cycle != nil {
		s := m.service(cycle[0])
		f.add(s.At, "subject.services."+s.Name+".needs", "", "services need one another in a circle: %s", strings.Join(cycle, " -> "))
	}
}

// needsCycle gives a cycle of needs, closed (a, b, a), or nil.
func (m *Matrix) needsCycle() []string {
	const (
		open = iota + 1
		done
	)
	state := map[string]int{}
	var path []string
	var visit func(name string) []string
	visit = func(name string) []string {
		s := m.service(name)
		switch {
		case s == nil || state[name] == done:
			return nil
		case state[name] == open:
			return append(slices.Clone(path[slices.Index(path, name):]), name)
		}
		state[name] = open
		path = append(path, name)
		for _, n := range s.Needs {
			if cycle := visit(n); cycle != nil {
				return cycle
			}
		}
		path = path[:len(path)-1]
		state[name] = done
		return nil
	}
	for _, s := range m.Subject.Services {
		if cycle := visit(s.Name); cycle != nil {
			return cycle
		}
	}
	return nil
}

func (m *Matrix) checkLinks(f *faults) {
	type end struct {
		from, to string
		port     int
	}
	seen := map[end]bool{}
	for i, l := range m.Subject.Links {
		path := fmt.Sprintf("subject.links[%d]", i)
		from := m.service(l.From)
		if from == nil {
			f.lack("subject.services", l.At, path+".from", didYouMean(l.From, m.serviceNames()), "there is no service %q", l.From)
		}
		known := m.checkPort(f, l.At, path+".to", l.To, l.Port)
		e := end{l.From, l.To, l.Port}
		switch ref := (Ref{Kind: RefAddr, Name: l.To, Port: l.Port}); {
		case l.From == l.To:
			f.add(l.At, path, "", "leads from %s to itself", l.From)
		case seen[e]:
			f.add(l.At, path, "", "there is a link from %s to %s:%d already", l.From, l.To, l.Port)
		case from != nil && known && !m.uses(l.From, ref):
			f.lack("subject.services."+l.From, l.At, path, "the link is in the way of that address only", "service %s uses %s nowhere, so nothing would pass", l.From, ref)
		}
		seen[e] = true
	}
}

// checkRules checks how often and by what rule: repeat, judge and place.
func (m *Matrix) checkRules(f *faults) {
	at := Pos{File: m.Origin.File}
	if m.Repeat.Rounds < 1 || m.Repeat.Rounds > MaxRounds {
		f.add(at, "repeat.rounds", "", "%d lies outside 1 to %d", m.Repeat.Rounds, MaxRounds)
	}
	m.checkStopping(f, at)
	j := m.Judge
	if j.MinimumEffect <= 0 || j.MinimumEffect > 1 {
		f.add(at, "judge.minimum_effect", "", "%v does not lie above 0%% and at most at 100%%", j.MinimumEffect)
	}
	if j.Confidence < minConfidence || j.Confidence > maxConfidence {
		f.add(at, "judge.confidence", "as in 95%", "%v lies outside %v to %v", j.Confidence, minConfidence, maxConfidence)
	}
	if j.ErrorRate < 0 || j.ErrorRate > 1 {
		f.add(at, "judge.error_rate", "", "%v lies outside 0 to 1", j.ErrorRate)
	}
	for _, p := range []struct{ name, text string }{
		{"subject", m.Place.Subject}, {"backing", m.Place.Backing}, {"load", m.Place.Load}, {"conductor", m.Place.Conductor},
	} {
		if p.text == "" || p.text == RunnerAuto {
			continue
		}
		if _, err := ParseCoreSet(p.text); err != nil {
			f.add(m.Place.At, "place."+p.name, "", "%w", err)
		}
	}
}

// checkStopping checks the rule by which rounds are enough.
func (m *Matrix) checkStopping(f *faults, at Pos) {
	r := m.Repeat
	switch {
	case r.Until == StopFixed && r.Stopping != (Stopping{}):
		f.add(at, "repeat.until", "", "there is no rule for what belongs to one")
		return
	case r.Until == StopFixed:
		return
	case r.Until != StopPrecise && r.Until != StopDecided:
		f.add(at, "repeat.until", "", "%q is none of %s, %s", r.Until, StopPrecise, StopDecided)
		return
	case r.AtMost < FirstLook || r.AtMost > MaxRounds || r.Rounds != r.AtMost:
		f.add(at, "repeat.at_most", "", "%d of %d rounds lies outside %d to %d", r.AtMost, r.Rounds, FirstLook, MaxRounds)
	}
	if r.Within < 0 || r.Within > 1 || r.Within != 0 && r.Until != StopPrecise {
		f.add(at, "repeat.within", "", "%v belongs to %s, from 0%% to 100%%", r.Within, StopPrecise)
	}
	metric, _ := Sweep{Declared: m.Declared()}.Metric(m.Judge.Metric)
	if r.Until == StopPrecise && metric.Scale == ScaleDifference && metric.Unit != UnitRatio {
		f.add(at, "repeat.until", "say decided, or judge by another metric", "%s is compared by differences, which are precise by no share", m.Judge.Metric)
	}
}
