package experiment

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func checkSteps(f *faults, s *ServiceSpec, path string) {
	forms := []struct {
		path    string
		ready   *Step
		confirm []Step
	}{{path: path, ready: s.Ready, confirm: s.Confirm}}
	if p := s.Process; p != nil {
		forms = append(forms, forms[0])
		forms[1].path, forms[1].ready, forms[1].confirm = path+".process", p.Ready, p.Confirm
	}
	for _, form := range forms {
		if form.ready != nil {
			checkStep(f, s, form.ready, form.path+".ready")
		}
		for i := range form.confirm {
			c, at := &form.confirm[i], fmt.Sprintf("%s.confirm[%d]", form.path, i)
			checkStep(f, s, c, at)
			switch {
			case c.Port != 0 || c.Log != "":
				f.add(c.At, at, "", "port and log confirm no setting")
			case c.Has.IsZero() && len(c.Is) == 0:
				f.lack(at, c.At, at, `as in is: {threads: "${threads}"}`, "expects nothing, so it confirms nothing")
			}
		}
	}
}

var (
	stepHTTP = regexp.MustCompile(`^:([0-9]+)(/.*)$`)
	jsonPath = regexp.MustCompile(`^(\.[A-Za-z0-9_-]+)+$`)
)

// checkStep checks one step of a service: what it does, what it takes from the
// answer, and what it expects.
func checkStep(f *faults, s *ServiceSpec, st *Step, path string) {
	var what []string
	for name, given := range map[string]bool{
		"run": len(st.Run) > 0, "http": !st.HTTP.IsZero(), "log": st.Log != "", "port": st.Port != 0,
	} {
		if given {
			what = append(what, name)
		}
	}
	slices.Sort(what)
	switch len(what) {
	case 0:
		f.lack(path, st.At, path, "it wants http, run, log or port", "a step without what to do")
		return
	case 1:
	default:
		f.add(st.At, path, "", "a step does one thing, this one %s", strings.Join(what, " and "))
		return
	}
	switch what[0] {
	case "http":
		checkHTTP(f, s, st, path)
	case "port":
		if !slices.Contains(s.Ports, st.Port) {
			f.lack("subject.services."+s.Name, st.At, path+".port", "", "service %s declares no port %d", s.Name, st.Port)
		}
	case "log":
		if _, err := regexp.Compile(st.Log); err != nil {
			f.add(st.At, path+".log", "", "%w", err)
		}
	}
	answers := what[0] == "http" || what[0] == "run"
	if !answers && (!st.Has.IsZero() || len(st.JSON) > 0 || len(st.Is) > 0) {
		f.add(st.At, path, "", "%s gives no answer in which something could be expected", what[0])
	}
	if st.Times != 0 && what[0] != "log" {
		f.lack(path, st.At, path+".times", "", "counts matches of log, and there is none")
	}
	checkExpectations(f, st, path)
}

func checkHTTP(f *faults, s *ServiceSpec, st *Step, path string) {
	const hint = `as in ":8080/healthz"`
	m := stepHTTP.FindStringSubmatch(st.HTTP.String())
	if m == nil {
		f.add(st.HTTP.At, path+".http", hint, "%q is not :PORT/PATH", st.HTTP)
		return
	}
	port, err := strconv.Atoi(m[1])
	if err != nil || !slices.Contains(s.Ports, port) {
		f.lack("subject.services."+s.Name, st.HTTP.At, path+".http", "", "service %s declares no port %s", s.Name, m[1])
	}
	if strings.ContainsAny(m[2], " \t\r\n#") {
		f.add(st.HTTP.At, path+".http", hint, "%q holds a character that no request line can hold", m[2])
	}
}

func checkExpectations(f *faults, st *Step, path string) {
	taken, wanted := map[string]bool{}, map[string]bool{}
	for _, e := range st.Is {
		wanted[e.Name] = true
	}
	var names []string
	for _, e := range st.JSON {
		taken[e.Name] = true
		names = append(names, e.Name)
		if !jsonPath.MatchString(e.Path) {
			f.add(st.At, path+".json."+e.Name, "as in .threads or .pools.0.size", "%q is no path", e.Path)
		}
		if !wanted[e.Name] {
			f.lack(path, st.At, path+".json."+e.Name, "", "is taken from the answer, and is expects nothing of it")
		}
	}
	for _, e := range st.Is {
		if !taken[e.Name] {
			f.lack(path, st.At, path+".is."+e.Name, didYouMean(e.Name, names), "json takes no value of this name")
		}
	}
}
