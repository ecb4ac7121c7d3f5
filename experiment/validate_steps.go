package experiment

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// purpose is why a step is done.
type purpose string

const (
	forReady   purpose = "ready"
	forPrepare purpose = "prepare"
	forConfirm purpose = "confirm"
	forCollect purpose = "collect"
)

// placedStep is a step, where it stands, and the service under which it does (nil: at
// the top).
type placedStep struct {
	*Step
	path  string
	why   purpose
	owner *ServiceSpec
}

// target gives the service that is asked; false if there is none of the name.
func (p placedStep) target(m *Matrix) (*ServiceSpec, bool) {
	if p.In == "" {
		return p.owner, true
	}
	s := m.service(p.In)
	return s, s != nil
}

// steps lists the steps of a service, those of its process form too.
func (s *ServiceSpec) steps(at string) []placedStep {
	var out []placedStep
	add := func(why purpose, path string, st *Step) {
		out = append(out, placedStep{Step: st, path: path, why: why, owner: s})
	}
	form := func(at string, ready *Step, confirm []Step) {
		if ready != nil {
			add(forReady, at+".ready", ready)
		}
		for i := range confirm {
			add(forConfirm, fmt.Sprintf("%s.confirm[%d]", at, i), &confirm[i])
		}
	}
	form(at, s.Ready, s.Confirm)
	if s.Process != nil {
		form(at+".process", s.Process.Ready, s.Process.Confirm)
	}
	for i := range s.Prepare.Steps {
		add(forPrepare, fmt.Sprintf("%s.prepare[%d]", at, i), &s.Prepare.Steps[i])
	}
	for i := range s.Collect {
		add(forCollect, fmt.Sprintf("%s.collect[%d]", at, i), &s.Collect[i].Step)
	}
	return out
}

// topSteps lists the steps that stand under no service.
func (m *Matrix) topSteps() []placedStep {
	var out []placedStep
	for i := range m.Prepare {
		out = append(out, placedStep{Step: &m.Prepare[i], path: fmt.Sprintf("prepare[%d]", i), why: forPrepare})
	}
	for i := range m.Collect {
		out = append(out, placedStep{Step: &m.Collect[i].Step, path: fmt.Sprintf("collect[%d]", i), why: forCollect})
	}
	return out
}

// allSteps lists every step of the matrix.
func (m *Matrix) allSteps() []placedStep {
	out := m.topSteps()
	for i := range m.Subject.Services {
		s := &m.Subject.Services[i]
		out = append(out, s.steps("subject.services."+s.Name)...)
	}
	return out
}

func (m *Matrix) checkSteps(f *faults, s *ServiceSpec, at string) {
	for _, p := range s.steps(at) {
		m.checkStep(f, p)
	}
	for i := range s.Collect {
		checkCollect(f, &s.Collect[i], fmt.Sprintf("%s.collect[%d]", at, i))
	}
	for i := range s.Scrape {
		m.checkScrape(f, s, &s.Scrape[i], fmt.Sprintf("%s.scrape[%d]", at, i))
	}
}

func (m *Matrix) checkTopSteps(f *faults) {
	for _, p := range m.topSteps() {
		if p.In == "" && p.Image.IsZero() {
			f.lack(p.path, p.At, p.path, "as in in: app", "stands under no service, so it wants in or image")
			continue
		}
		m.checkStep(f, p)
	}
	for i := range m.Collect {
		checkCollect(f, &m.Collect[i], fmt.Sprintf("collect[%d]", i))
	}
	m.checkKept(f)
}

// checkKept wants each artifact to have a name of its own.
func (m *Matrix) checkKept(f *faults) {
	kept := map[string]bool{}
	check := func(c Collect, path string) {
		if c.Keep != "" && kept[c.Keep] {
			f.add(c.At, path+".keep", "", "there is an artifact %s already", c.Keep)
		}
		kept[c.Keep] = true
	}
	for _, s := range m.Subject.Services {
		for i, c := range s.Collect {
			check(c, fmt.Sprintf("subject.services.%s.collect[%d]", s.Name, i))
		}
	}
	for i, c := range m.Collect {
		check(c, fmt.Sprintf("collect[%d]", i))
	}
}

// does names what a step does, of the five that it may.
func (s *Step) does() []string {
	var what []string
	for _, w := range []struct {
		name  string
		given bool
	}{
		{"file", !s.File.IsZero()}, {"http", !s.HTTP.IsZero()}, {"log", s.Log != ""}, {"port", s.Port != 0}, {"run", len(s.Run) > 0},
	} {
		if w.given {
			what = append(what, w.name)
		}
	}
	return what
}

// checkStep checks what a step does, what it takes from the answer, and what it
// expects.
func (m *Matrix) checkStep(f *faults, p placedStep) {
	m.checkOnly(f, p.Only, p.path)
	what := p.does()
	switch {
	case len(what) == 0:
		wants := "it wants run, http, log or file"
		if p.why == forReady {
			wants = "it wants port, run, http, log or file"
		}
		f.lack(p.path, p.At, p.path, wants, "a step without what to do")
		return
	case len(what) > 1:
		f.add(p.At, p.path, "", "a step does one thing, this one %s", strings.Join(what, " and "))
		return
	}
	s, known := p.target(m)
	switch {
	case !p.Image.IsZero() && p.In != "":
		f.add(p.At, p.path, "an image runs beside the services", "has both in and image")
	case !p.Image.IsZero() && what[0] != "run":
		f.add(p.At, p.path+".image", "", "an image runs a command, and this step does %s", what[0])
	case !known:
		f.lack("subject.services", p.At, p.path+".in", didYouMean(p.In, m.serviceNames()), "there is no service %q", p.In)
	case s != nil && p.Image.IsZero():
		checkAsked(f, p, s, what[0])
		m.checkRuns(f, p)
	}
	if st := p.Step; what[0] == "port" && (!st.Has.IsZero() || len(st.Takes()) > 0 || len(st.Is)+len(st.Near) > 0) {
		f.add(p.At, p.path, "", "port gives no answer in which something could be expected")
	}
	if p.Times != 0 && what[0] != "log" {
		f.lack(p.path, p.At, p.path+".times", "", "counts matches of log, and there is none")
	}
	checkExtracts(f, p)
	if p.why != forCollect {
		checkExpectations(f, p)
	}
	if p.why == forConfirm {
		switch {
		case what[0] == "port":
			f.add(p.At, p.path, "", "a port that answers confirms no setting")
		case what[0] != "log" && p.Has.IsZero() && len(p.Is) == 0 && len(p.Near) == 0:
			f.lack(p.path, p.At, p.path, `as in is: {threads: "${threads}"}`, "expects nothing, so it confirms nothing")
		}
	}
}

// checkRuns wants another service to run when a step asks it that is done while services
// start: it is waited for else in vain.
func (m *Matrix) checkRuns(f *faults, p placedStep) {
	early := p.why == forReady || p.why == forPrepare
	if early && p.owner != nil && p.In != "" && p.In != p.owner.Name && !m.needs(p.owner.Name, p.In, map[string]bool{}) {
		f.lack("subject.services", p.At, p.path+".in", "add "+p.In+" to needs", "%s may not be running yet", p.In)
	}
}

// checkAsked checks what is asked of a service.
func checkAsked(f *faults, p placedStep, s *ServiceSpec, what string) {
	if s.Job && p.why != forReady && what != "log" && what != "file" {
		f.add(p.At, p.path, "its log and its files are left", "service %s is a job, and has ended when it is asked", s.Name)
	}
	switch what {
	case "http":
		checkHTTP(f, s, p.HTTP, p.path+".http")
	case "port":
		if !slices.Contains(s.Ports, p.Port) {
			f.lack("subject.services."+s.Name, p.At, p.path+".port", "", "service %s declares no port %d", s.Name, p.Port)
		}
	case "file":
		if text, ok := p.File.Literal(); ok && !strings.HasPrefix(text, "/") {
			f.add(p.File.At, p.path+".file", "as in /var/log/app.log", "%q is no absolute path inside the service", text)
		}
	}
}

var (
	stepHTTP   = regexp.MustCompile(`^:([0-9]+)(/.*)$`)
	jsonPath   = regexp.MustCompile(`^(\.|(\.[A-Za-z0-9_-]+)+)$`)
	valueName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	keptName   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)
	seriesForm = regexp.MustCompile(`^[A-Za-z_:][A-Za-z0-9_:]*(\{([A-Za-z_][A-Za-z0-9_]*="[^"]*",?)*\})?$`)
)

func checkHTTP(f *faults, s *ServiceSpec, t Template, path string) {
	const hint = `as in ":8080/healthz"`
	m := stepHTTP.FindStringSubmatch(t.String())
	if m == nil {
		f.add(t.At, path, hint, "%q is not :PORT/PATH", t)
		return
	}
	port, err := strconv.Atoi(m[1])
	if err != nil || !slices.Contains(s.Ports, port) {
		f.lack("subject.services."+s.Name, t.At, path, "", "service %s declares no port %s", s.Name, m[1])
	}
	if strings.ContainsAny(m[2], " \t\r\n#") {
		f.add(t.At, path, hint, "%q holds a character that no request line can hold", m[2])
	}
}

// Takes lists the names of the values that a step takes from the answer.
func (s *Step) Takes() []string {
	var out []string
	for _, e := range slices.Concat(s.JSON, s.CSV) {
		out = append(out, e.Name)
	}
	return append(out, groups(s.Regex)...)
}

// groups lists the named groups of an expression.
func groups(expression string) []string {
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(re.SubexpNames(), func(n string) bool { return n == "" })
}

// checkExtracts checks how values are taken from the answer.
func checkExtracts(f *faults, p placedStep) {
	for _, e := range []struct{ field, text string }{{"log", p.Log}, {"regex", p.Regex}} {
		if _, err := regexp.Compile(e.text); err != nil {
			f.add(p.At, p.path+"."+e.field, "", "%w", err)
		} else if e.field == "regex" && e.text != "" && len(groups(e.text)) == 0 {
			f.add(p.At, p.path+".regex", "as in (?P<threads>[0-9]+)", "names no group, so it takes no value")
		}
	}
	var ways []string
	for _, w := range []struct {
		name  string
		given bool
	}{{"regex", p.Regex != ""}, {"json", len(p.JSON) > 0}, {"csv", len(p.CSV) > 0}} {
		if w.given {
			ways = append(ways, w.name)
		}
	}
	if len(ways) > 1 {
		f.add(p.At, p.path, "", "an answer is read in one way, and this step has %s", strings.Join(ways, " and "))
	}
	for _, e := range p.JSON {
		if !jsonPath.MatchString(e.Path) {
			f.add(p.At, p.path+".json."+e.Name, "as in .threads or .pools.0.size", "%q is no path", e.Path)
		}
	}
	for _, e := range p.CSV {
		if e.Path == "" {
			f.add(p.At, p.path+".csv."+e.Name, "", "names no column")
		}
	}
}

// checkExpectations wants every value that is taken to be expected, and the other way
// round.
func checkExpectations(f *faults, p placedStep) {
	names := p.Takes()
	wanted := map[string]bool{}
	expect := func(field, name string) {
		wanted[name] = true
		if !slices.Contains(names, name) {
			f.lack(p.path, p.At, p.path+"."+field+"."+name, didYouMean(name, names), "no value of this name is taken from the answer")
		}
	}
	for _, e := range p.Is {
		expect("is", e.Name)
	}
	for _, n := range p.Near {
		expect("near", n.Name)
	}
	field := func(name string) string {
		of := func(e Extract) bool { return e.Name == name }
		switch {
		case slices.ContainsFunc(p.JSON, of):
			return ".json." + name
		case slices.ContainsFunc(p.CSV, of):
			return ".csv." + name
		default:
			return ".regex"
		}
	}
	for _, name := range names {
		if !wanted[name] {
			f.lack(p.path, p.At, p.path+field(name), "", "%s is taken from the answer, and neither is nor near expects anything of it", name)
		}
	}
}

// checkCollect checks when a step is asked, and what becomes of its answer.
func checkCollect(f *faults, c *Collect, path string) {
	names := c.Takes()
	if len(names) == 0 && c.Keep == "" && !f.at(path) {
		f.lack(path, c.At, path, "as in json: {hits: .hits} or keep: NAME", "takes no value and keeps nothing")
	}
	for i, m := range c.Moments {
		if slices.Contains(c.Moments[:i], m) {
			f.add(c.At, path+".at", "", "%s is named twice", m)
		}
	}
	during := slices.Contains(c.Moments, MomentDuring)
	if c.Every != 0 && !during {
		f.lack(path, c.At, path+".every", "as in at: during", "is for what is asked during the window")
	}
	for i, d := range c.Delta {
		at := fmt.Sprintf("%s.delta[%d]", path, i)
		if !slices.Contains(names, d) {
			f.lack(path, c.At, at, didYouMean(d, names), "no value of the name %q is taken from the answer", d)
		}
		if !slices.Contains(c.Moments, MomentStart) || !slices.Contains(c.Moments, MomentEnd) {
			f.lack(path, c.At, path+".delta", "as in at: [start, end]", "the growth of a value wants it asked at start and end")
		}
	}
	switch {
	case c.Keep == "":
	case !keptName.MatchString(c.Keep):
		f.add(c.At, path+".keep", "letters, digits, ., _ and -", "%q is no name of an artifact", c.Keep)
	case during || len(c.Moments) > 1:
		f.add(c.At, path+".keep", "as in at: end", "one answer can be kept, and it is asked more than once")
	}
	if len(names) == 0 && (c.Unit != "" || c.Better != NoDirection) {
		f.lack(path, c.At, path+".unit", "", "unit and better belong to values, and none is taken")
	}
}

func (m *Matrix) checkScrape(f *faults, s *ServiceSpec, sc *Scrape, path string) {
	if s.Job {
		f.add(sc.At, path, "collect may take values from its log", "service %s is a job, and has ended when it is asked", s.Name)
	}
	if !sc.URL.IsZero() {
		checkHTTP(f, s, sc.URL, path+".url")
	}
	if len(sc.Metrics) == 0 {
		f.lack(path, sc.At, path+".metrics", "as in [go_goroutines]", "names no metric")
	}
	for _, one := range sc.Metrics {
		if !seriesForm.MatchString(one.Selector) {
			f.add(sc.At, path+".metrics."+one.Name, `as in conns or conns{state="open"}`, "%q selects no series", one.Selector)
		}
	}
}
