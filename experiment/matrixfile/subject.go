package matrixfile

import (
	"errors"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

const (
	hostNetwork = "every run has a network of its own; on the host's, load would meet everything else"
	privileged  = "a privileged container can change the host under every other run"
)

func networkNever() map[string]string {
	return map[string]string{
		"network_mode": hostNetwork, "network": hostNetwork, "networks": hostNetwork, "privileged": privileged,
	}
}

func serviceShape() shape {
	return shape{
		known: words("image build command env ports needs ready limits role process confirm"),
		later: words("files container mounts volumes only job replicas prepare collect scrape metrics"),
		never: networkNever(),
	}
}

// subject reads services and links into m.
func (r *reader) subject(v *value, m *experiment.Matrix) {
	if v == nil {
		return
	}
	o := r.object(v, shape{
		known: words("services links"),
		later: words("prepare collect scrape metrics volumes"),
		never: networkNever(),
	})
	r.require(v, o, "services")
	for _, f := range r.names(o["services"], "as in services: {app: {image: app:1}}") {
		m.Subject.Services = append(m.Subject.Services, r.service(f))
	}
	for _, item := range r.items(o["links"], "as in [{from: app, to: redis:6379, latency: 2ms}]") {
		m.Subject.Links = append(m.Subject.Links, r.link(item))
	}
}

func (r *reader) service(f field) experiment.ServiceSpec {
	s := experiment.ServiceSpec{Name: f.name, At: f.at}
	r.container(f.value)
	o := r.object(f.value, serviceShape())
	s.Image = r.template(o["image"], "")
	s.Build = r.build(o["build"])
	s.Command = r.templates(o["command"], `as in [redis-server, --save, ""]`)
	s.Env = r.env(o["env"])
	s.Ports = r.ports(o["ports"])
	for _, item := range r.items(o["needs"], "as in [redis]") {
		if name, ok := r.plain(item); ok {
			s.Needs = append(s.Needs, name)
		}
	}
	s.Ready = r.ready(o["ready"])
	s.Limits = r.limits(o["limits"])
	s.Role = experiment.ServiceRole(r.oneOf(o["role"], "", words("subject backing"), nil))
	s.Confirm = r.confirm(o["confirm"])
	if o["process"] != nil {
		s.Process = r.process(o["process"])
	}
	return s
}

// container refuses what is refused for good also where the rest is not yet built.
func (r *reader) container(v *value) {
	i := slices.IndexFunc(v.fields, func(f field) bool { return f.name == "container" })
	if i < 0 {
		return
	}
	for _, f := range v.fields[i].value.fields {
		if reason, refused := networkNever()[f.name]; refused {
			r.fault(f.at, f.value.path, errors.New("refused: "+reason), "")
		}
	}
}

func (r *reader) process(v *value) *experiment.ProcessSpec {
	o := r.object(v, shape{known: words("build command env ready confirm limits"), later: words("files")})
	return &experiment.ProcessSpec{
		Build:   r.build(o["build"]),
		Command: r.templates(o["command"], `as in [server, --port, "${self:8080}"]`),
		Env:     r.env(o["env"]),
		Ready:   r.ready(o["ready"]),
		Confirm: r.confirm(o["confirm"]),
		Limits:  r.limits(o["limits"]),
		At:      v.at,
	}
}

func (r *reader) build(v *value) *experiment.BuildSpec {
	if v == nil {
		return nil
	}
	o := r.object(v, shape{known: words("go"), later: words("context dockerfile args before")})
	if len(v.fields) == 0 {
		r.require(v, o, "go")
	}
	dir, ok := r.plain(o["go"])
	if ok && strings.TrimSpace(dir) == "" {
		r.faultAt(o["go"], "as in go: ../cmd/app", "names no directory")
	}
	return &experiment.BuildSpec{Go: dir, At: v.at}
}

func (r *reader) env(v *value) []experiment.EnvVar {
	var out []experiment.EnvVar
	for _, f := range r.names(v, "as in {NAME: value}") {
		if f.name == "" || strings.ContainsAny(f.name, "=$ \t\n") {
			r.fault(f.at, f.value.path, errors.New("no name of an environment variable"), "")
			continue
		}
		out = append(out, experiment.EnvVar{Name: f.name, Value: r.template(f.value, "")})
	}
	return out
}

func (r *reader) ports(v *value) []int {
	var out []int
	for _, item := range r.items(v, "as in [8080]") {
		hint := ""
		if strings.Contains(item.text, ":") {
			hint = "the port inside; nothing is published"
		}
		s, ok := r.plain(item)
		if !ok {
			continue
		}
		port, err := experiment.ParsePort(s)
		switch {
		case err != nil:
			r.faultAt(item, hint, "%w", err)
		case slices.Contains(out, port):
			r.faultAt(item, "", "port %d is given twice", port)
		default:
			out = append(out, port)
		}
	}
	return out
}

func (r *reader) limits(v *value) experiment.LimitsSpec {
	o := r.object(v, shape{known: words("cpus memory pids")})
	return experiment.LimitsSpec{
		CPUs: r.template(o["cpus"], ""), Memory: r.template(o["memory"], ""), PIDs: r.template(o["pids"], ""),
	}
}

func (r *reader) link(v *value) experiment.LinkSpec {
	l := experiment.LinkSpec{At: v.at}
	o := r.object(v, shape{known: words("from to latency")})
	r.require(v, o, "from", "to")
	l.From, _ = r.plain(o["from"])
	l.To, l.Port = r.address(o["to"])
	l.Latency = r.template(o["latency"], "0s")
	return l
}
