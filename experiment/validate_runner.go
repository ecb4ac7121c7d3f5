package experiment

import (
	"strings"
)

// checkProcesses wants every service to be what the process runner can start.
func (v view) checkProcesses(f *faults) {
	for _, s := range v.everyService() {
		path := s.part()
		const advice = "add process: {build: {go: DIR}} or process: {command: [...]}"
		switch {
		case s.Build == nil && !s.Image.IsZero():
			f.add(s.At, path, advice, "has an image only, which the process runner cannot start")
		case s.Build != nil && s.Build.Context != "":
			f.add(s.Build.At, path+".build.context", advice, "makes an image, which the process runner cannot start")
		}
		for _, p := range s.steps(path) {
			checkNoImage(f, p)
		}
		s.checkLiteralPaths(f, path)
	}
	for _, p := range v.topSteps() {
		checkNoImage(f, p)
	}
	for _, c := range v.cells {
		p, err := v.Plan(c)
		if err != nil {
			return // Validate says it
		}
		for _, s := range p.Services {
			if path := "subject.services." + s.Name + ".replicas"; s.Replicas > 1 && !f.at(path) {
				f.add(v.service(s.Name).Replicas.At, path, "runner: docker starts them", "%d replicas, and a process listens on a port alone", s.Replicas)
			}
		}
	}
}

func checkNoImage(f *faults, p placedStep) {
	if !p.Image.IsZero() {
		f.add(p.At, p.path+".image", "runner: docker does", "the process runner starts no image")
	}
}

// checkLiteralPaths finds paths of the service's files and volumes that are written
// out: a process finds them in the directory of its run.
func (s *ServiceSpec) checkLiteralPaths(f *faults, path string) {
	var paths []string
	for _, file := range s.Files {
		paths = append(paths, file.Path)
	}
	for _, v := range s.Volumes {
		paths = append(paths, v.Target)
	}
	if s.Output != "" {
		paths = append(paths, s.Output)
	}
	for _, t := range s.texts(path) {
		if !t.forms.file || !t.forms.env || strings.HasPrefix(t.path, path+".files.") {
			continue // nobody fills paths in, or a file that only names itself
		}
		text := t.Resolve(func(Ref) (string, bool) { return "\x00", true }).String()
		for _, p := range paths {
			if containsPath(text, p) {
				f.add(t.At, t.path, "write ${file:"+p+"}", "%s is not there for a process", p)
			}
		}
	}
}

// containsPath reports whether the text names the path or something below it.
func containsPath(text, path string) bool {
	part := func(c byte) bool {
		return c == '.' || c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	for from := 0; ; {
		i := strings.Index(text[from:], path)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(path)
		if (i == 0 || !part(text[i-1])) && (end == len(text) || !part(text[end])) {
			return true
		}
		from = end
	}
}
