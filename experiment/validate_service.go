package experiment

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func (m *Matrix) checkServices(f *faults) {
	if len(m.Subject.Services) == 0 {
		f.add(Pos{File: m.Origin.File}, "subject.services", "", "there is no service")
	}
	seen := map[string]string{}
	for i := range m.Subject.Services {
		s := &m.Subject.Services[i]
		at := "subject.services." + s.Name
		lower := strings.ToLower(s.Name)
		switch other, twice := seen[lower]; {
		case slices.Contains(reservedNames(), lower):
			f.add(s.At, at, "reserved: "+strings.Join(reservedNames(), ", "), "the name %s is reserved", s.Name)
		case twice:
			f.add(s.At, at, "names of hosts know no case", "the name is taken by %s", other)
		default:
			checkWord(f, s.At, at, s.Name)
		}
		seen[lower] = s.Name
		m.checkService(f, s, at)
	}
}

func (m *Matrix) checkService(f *faults, s *ServiceSpec, at string) {
	m.checkSource(f, s, at)
	m.checkSteps(f, s, at)
	m.checkOnly(f, s.Only, at)
	s.checkPaths(f, at)
	s.Container.check(f, s.At, at+".container")
	if s.Role != RoleSubject && s.Role != RoleBacking {
		f.add(s.At, at+".role", "", "%q is no role of a service (subject or backing)", s.Role)
	}
	for i, p := range s.Ports {
		if slices.Contains(s.Ports[:i], p) {
			f.add(s.At, at+".ports["+strconv.Itoa(i)+"]", "", "port %d is given twice", p)
		}
	}
	if s.Job && s.Ready != nil {
		f.add(s.Ready.At, at+".ready", "its dependants start when it has ended with 0", "a job is never ready, it ends")
	}
	if s.Job && !s.Replicas.IsZero() {
		f.add(s.At, at+".replicas", "", "a job has no replicas")
	}
	if s.Prepare.Snapshot && len(s.Volumes) == 0 {
		f.lack(at, s.At, at+".prepare.snapshot", "as in volumes: [\"data:/var/lib/app\"]", "a snapshot keeps volumes, and the service has none")
	}
}

// checkSource wants exactly one of image and build, or, where the process runner
// is sure to be used, a command.
func (m *Matrix) checkSource(f *faults, s *ServiceSpec, at string) {
	started := len(s.Command) > 0 || s.Process != nil && (s.Process.Build != nil || len(s.Process.Command) > 0)
	switch {
	case s.Build != nil && !s.Image.IsZero():
		f.add(s.At, at, "", "has both image and build")
	case s.Build == nil && s.Image.IsZero() && (m.Runner != RunnerProcess || !started):
		f.lack(at, s.At, at, "", "has neither image nor build")
	}
	if s.Build != nil {
		s.Build.check(f, at+".build")
	}
	if s.Process == nil {
		return
	}
	if s.Process.Build != nil {
		s.Process.Build.check(f, at+".process.build")
	}
	if s.Process.Command != nil && len(s.Process.Command) == 0 && s.Process.Build == nil {
		f.lack(at, s.Process.At, at+".process.command", "", "is empty")
	}
}

// check wants a package, or a context with what belongs to it.
func (b *BuildSpec) check(f *faults, at string) {
	isGo, isContext := strings.TrimSpace(b.Go) != "", strings.TrimSpace(b.Context) != ""
	switch {
	case isGo && isContext:
		f.add(b.At, at, "", "has both go and context")
	case isGo && (b.Dockerfile != "" || len(b.Args) > 0 || len(b.Before) > 0):
		f.add(b.At, at, "", "dockerfile, args and before belong to a context, not to go")
	case !isGo && !isContext:
		f.lack(at, b.At, at, "as in go: ../cmd/app or context: ../app", "names no directory")
	}
	if len(b.Before) > 0 && strings.TrimSpace(b.Before[0]) == "" {
		f.add(b.At, at+".before", "as in [make, assets]", "names no command")
	}
	if d := b.Dockerfile; d != "" && (path.IsAbs(d) || strings.HasPrefix(path.Clean(d), "..")) {
		f.add(b.At, at+".dockerfile", "", "%q lies outside the context", d)
	}
}

// checkPaths wants every path inside the service to be absolute, clean, and taken once.
func (s *ServiceSpec) checkPaths(f *faults, at string) {
	taken := map[string]string{}
	check := func(p Pos, where, target, what string) {
		switch {
		case !path.IsAbs(target) || path.Clean(target) != target || target == "/":
			f.add(p, where, "as in /etc/app", "%q is no absolute path inside the service", target)
		case taken[target] != "":
			f.add(p, where, "", "%s is taken by %s", target, taken[target])
		}
		taken[target] = what
	}
	for _, file := range s.Files {
		check(file.At, at+".files."+file.Path, file.Path, "files")
	}
	if s.Output != "" {
		check(s.At, at+".output", s.Output, "output")
	}
	for i, v := range s.Mounts {
		check(v.At, at+".mounts["+strconv.Itoa(i)+"]", v.Target, "mounts")
	}
	for i, v := range s.Volumes {
		where := at + ".volumes[" + strconv.Itoa(i) + "]"
		if !ValidName(v.Name) {
			f.add(v.At, where, "a letter, then letters, digits, _ and -", "%q is no name of a volume", v.Name)
		}
		check(v.At, where, v.Target, "volumes")
	}
	for i, t := range s.Container.Tmpfs {
		if target, _, _ := strings.Cut(t.String(), ":"); len(t.Refs()) == 0 {
			check(t.At, at+".container.tmpfs["+strconv.Itoa(i)+"]", target, "tmpfs")
		}
	}
	if s.Process == nil {
		return
	}
	for _, file := range s.Process.Files {
		if !path.IsAbs(file.Path) || path.Clean(file.Path) != file.Path {
			f.add(file.At, at+".process.files."+file.Path, "as in /etc/app", "%q is no absolute path inside the service", file.Path)
		}
	}
}

var (
	ulimitName = regexp.MustCompile(`^[a-z]+$`)
	sysctlName = regexp.MustCompile(`^[a-z0-9_]+([./][A-Za-z0-9_-]+)+$`)
	capability = regexp.MustCompile(`^[A-Z][A-Z_]+$`)
	platform   = regexp.MustCompile(`^[a-z0-9]+/[a-z0-9_]+(/[a-z0-9]+)?$`)
)

func (c ContainerSpec) check(f *faults, at Pos, where string) {
	for _, u := range c.Ulimits {
		if !ulimitName.MatchString(u.Name) {
			f.add(u.Soft.At, where+".ulimits."+u.Name, "as in nofile", "%q is no limit of a process", u.Name)
		}
	}
	for _, s := range c.Sysctls {
		if !sysctlName.MatchString(s.Name) {
			f.add(s.Value.At, where+".sysctls."+s.Name, "as in net.core.somaxconn", "%q is no setting of the kernel", s.Name)
		}
	}
	for i, name := range c.CapAdd {
		where := where + ".cap_add[" + strconv.Itoa(i) + "]"
		switch {
		case name == "ALL":
			f.add(at, where, "name those that it needs", "ALL is refused: it is as good as privileged")
		case !capability.MatchString(name):
			f.add(at, where, "as in NET_ADMIN", "%q is no capability", name)
		}
	}
	if text, ok := c.Platform.Literal(); ok && text != "" && !platform.MatchString(text) {
		f.add(c.Platform.At, where+".platform", "as in linux/amd64", "%q is no platform", text)
	}
}
