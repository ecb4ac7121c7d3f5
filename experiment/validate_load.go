package experiment

import (
	"fmt"
	"slices"
	"strings"
)

// maxParts bounds the requests, the streams and the phases of a load.
const maxParts = 100

func (m *Matrix) checkLoad(f *faults) {
	l := m.Load
	if l.None {
		m.checkUnloaded(f)
		return
	}
	if l.External != nil {
		m.checkExternal(f)
		return
	}
	if l.Service == "" {
		f.lack("load", l.At, "load.to", "as in app:8080", "missing")
	} else if m.checkPort(f, l.At, "load.to", l.Service, l.Port) {
		m.checkTarget(f)
	}
	m.checkRequests(f)
	checkShapes(f, &l)
	if l.HTTP2 && !l.KeepAlive {
		f.add(l.At, "load.keep_alive", "", "HTTP/2 keeps its connections")
	}
	for name, n := range map[string]int{"streams": len(l.Streams), "phases": len(l.Phases)} {
		if n > maxParts {
			f.add(l.At, "load."+name, "", "%d %s, more than %d", n, name, maxParts)
		}
	}
	if l.Phases == nil {
		return
	}
	seen := map[string]bool{}
	measured := false
	for i, p := range l.Phases {
		path := fmt.Sprintf("load.phases[%d]", i)
		checkWord(f, p.At, path+".name", p.Name)
		if seen[p.Name] {
			f.add(p.At, path+".name", "", "there is a phase %s already", p.Name)
		}
		if p.Name+":" == ObjectivePrefix {
			f.add(p.At, path+".name", "", "the name %s is reserved", p.Name)
		}
		seen[p.Name] = true
		measured = measured || p.Measure
	}
	if !measured {
		f.lack("load.phases", l.At, "load.phases", "as in measure: true", "none of the phases is measured")
	}
}

// checkUnloaded refuses what is asked under load, where there is none.
func (m *Matrix) checkUnloaded(f *faults) {
	collects := func(all []Collect, path string) {
		for i, c := range all {
			if len(c.Delta) > 0 || slices.ContainsFunc(c.Moments, func(at Moment) bool { return at != MomentEnd }) {
				f.lack("load", c.At, fmt.Sprintf("%s[%d].at", path, i), "as in at: end", "without load there is no window, only an end")
			}
		}
	}
	for _, s := range m.Subject.Services {
		path := "subject.services." + s.Name
		collects(s.Collect, path+".collect")
		for i, sc := range s.Scrape {
			f.lack("load", sc.At, fmt.Sprintf("%s.scrape[%d]", path, i), "collect may ask at the end", "is read under load, and there is none")
		}
	}
	collects(m.Collect, "collect")
}

// checkTarget wants the service at which the load is aimed to last.
func (m *Matrix) checkTarget(f *faults) {
	s := m.service(m.Load.Service)
	if s.Job {
		f.add(m.Load.At, "load.to", "load: none measures jobs", "service %s is a job: it has ended before the load begins", s.Name)
	}
}

// checkShapes wants exactly one of closed, open and phases.
func checkShapes(f *faults, l *LoadSpec) {
	switch {
	case l.Phases != nil:
		if l.Closed != nil || l.Open != nil {
			f.add(l.At, "load", "", "has both phases and a shape of its own")
		}
	case l.Closed == nil && l.Open == nil:
		f.lack("load", l.At, "load", "as in closed: {users: 64}", "is neither closed nor open")
	case l.Closed != nil && l.Open != nil:
		f.add(l.At, "load", "", "is both closed and open")
	}
	if l.Phases == nil && l.Open == nil && len(l.Streams) > 0 {
		f.lack("load", l.Streams[0].At, "load.streams", "streams add arrivals to those of open", "stands without open")
	}
}

func (m *Matrix) checkRequests(f *faults) {
	l := m.Load
	if len(l.Requests) == 0 {
		f.lack("load", l.At, "load.requests", "as in [{name: search, path: /search}]", "there is no request")
	}
	if len(l.Requests) > maxParts {
		f.add(l.At, "load.requests", "", "%d requests, more than %d", len(l.Requests), maxParts)
	}
	seen := map[string]bool{}
	for i, q := range l.Requests {
		at := requestPath(l.Requests, i)
		switch {
		case q.Name == "" && len(l.Requests) > 1:
			f.lack(at, q.At, at+".name", "", "missing: of several requests each has a name")
		case q.Name != "":
			checkWord(f, q.At, at+".name", q.Name)
			if seen[q.Name] {
				f.add(q.At, at+".name", "", "there is a request %s already", q.Name)
			}
		}
		seen[q.Name] = true
		checkRequest(f, &q, at, l.At)
	}
}

func checkRequest(f *faults, q *RequestSpec, at string, load Pos) {
	if q.Method == "" {
		f.lack(at, load, at+".method", "", "is empty")
	}
	if q.Path.IsZero() {
		f.lack(at, load, at+".path", "as in /coupons?user=7", "missing")
	} else if !strings.HasPrefix(q.Path.String(), "/") {
		f.add(cmpPos(q.Path.At, load), at+".path", "as in /coupons?user=7", "%q does not begin with /", q.Path)
	}
	if !ValidPath(q.Path.String()) {
		f.add(cmpPos(q.Path.At, load), at+".path", "escape it, as %20 for a space", "%q holds a character that no request line can hold", q.Path)
	}
	if !q.Expect.Has.IsZero() && q.Method == "HEAD" {
		f.add(cmpPos(q.Expect.Has.At, load), at+".expect.has", "", "a response to HEAD has no body")
	}
	if !q.Body.IsZero() && slices.Contains([]string{"GET", "HEAD"}, q.Method) {
		f.add(q.Body.At, at+".body", "as in method: POST", "%s carries no body", q.Method)
	}
	for _, h := range q.Headers {
		checkHeader(f, h, at+".headers."+h.Name)
	}
}

// ValidPath reports whether a text can stand in a request line: neither blanks nor
// control characters, nothing beyond ASCII, and no #.
func ValidPath(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' })
}

// ownHeaders are those that the generator sets itself.
func ownHeaders() []string {
	return []string{"connection", "content-length", "transfer-encoding"}
}

func checkHeader(f *faults, h EnvVar, at string) {
	isToken := func(c rune) bool {
		return c > ' ' && c < 0x7f && !strings.ContainsRune(`()<>@,;:\"/[]?={}`, c)
	}
	switch {
	case h.Name == "" || strings.ContainsFunc(h.Name, func(c rune) bool { return !isToken(c) }):
		f.add(h.Value.At, at, "as in Accept", "%q is no name of a header", h.Name)
	case slices.Contains(ownHeaders(), strings.ToLower(h.Name)):
		f.add(h.Value.At, at, "keep_alive and body decide it", "the generator sets %s itself", h.Name)
	}
	if strings.ContainsFunc(h.Value.String(), func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		f.add(h.Value.At, at, "", "holds a control character, which no header can hold")
	}
}

func cmpPos(at, otherwise Pos) Pos {
	if at.Line == 0 {
		return otherwise
	}
	return at
}
