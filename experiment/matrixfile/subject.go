package matrixfile

import (
	"errors"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

func subjectShape() shape { return shape{known: words("services links"), never: hostNever()} }

func serviceShape() shape {
	return shape{
		known: words("image build command env files ports needs ready limits role container mounts volumes process only job replicas prepare confirm collect scrape"),
		never: hostNever(),
	}
}

func (r *reader) subject(v *value) experiment.Subject {
	var s experiment.Subject
	if v == nil {
		return s
	}
	o := r.object(v, subjectShape())
	r.require(v, o, "services")
	for _, f := range r.names(o["services"], "as in services: {app: {image: app:1}}") {
		s.Services = append(s.Services, r.service(f))
	}
	for _, item := range r.items(o["links"], "as in [{from: app, to: redis:6379, latency: 2ms}]") {
		s.Links = append(s.Links, r.link(item))
	}
	return s
}

func (r *reader) service(f field) experiment.ServiceSpec {
	o := r.object(f.value, serviceShape())
	s := r.program(o)
	s.Name, s.At = f.name, f.at
	s.Ports = r.ports(o["ports"])
	s.Needs = r.list(o["needs"], "as in [redis]")
	s.Ready = r.ready(o["ready"])
	s.Role = experiment.ServiceRole(r.oneOf(o["role"], "", words("subject backing"), nil))
	s.Volumes = r.volumes(o["volumes"])
	s.Only = r.only(o["only"])
	s.Job, s.JobWithin = r.job(o["job"])
	s.Replicas = r.unsaid(o["replicas"], "1")
	s.Prepare = r.preparation(o["prepare"])
	s.Confirm = r.confirm(o["confirm"])
	s.Collect = r.collect(o["collect"])
	s.Scrape = r.scrape(o["scrape"])
	s.Process = r.process(o["process"], processShape())
	return s
}

// program reads what is started, which services have in common with a load generator.
func (r *reader) program(o object) experiment.ServiceSpec {
	return experiment.ServiceSpec{
		Image:     r.template(o["image"], ""),
		Build:     r.build(o["build"]),
		Command:   r.templates(o["command"], `as in [redis-server, --save, ""]`),
		Env:       r.env(o["env"]),
		Files:     r.files(o["files"]),
		Limits:    r.limits(o["limits"]),
		Container: r.container(o["container"]),
		Mounts:    r.mounts(o["mounts"]),
	}
}

func processShape() shape {
	return shape{known: words("build command env files ready confirm limits")}
}

func (r *reader) process(v *value, sh shape) *experiment.ProcessSpec {
	if v == nil {
		return nil
	}
	o := r.object(v, sh)
	return &experiment.ProcessSpec{
		Build:   r.build(o["build"]),
		Command: r.templates(o["command"], `as in [server, --port, "${self:8080}"]`),
		Env:     r.env(o["env"]),
		Files:   r.files(o["files"]),
		Ready:   r.ready(o["ready"]),
		Confirm: r.confirm(o["confirm"]),
		Limits:  r.limits(o["limits"]),
		At:      v.at,
	}
}

func buildShape() shape { return shape{known: words("go context dockerfile args before")} }

func (r *reader) build(v *value) *experiment.BuildSpec {
	if v == nil {
		return nil
	}
	o := r.object(v, buildShape())
	b := &experiment.BuildSpec{
		Args: r.env(o["args"]), Before: r.list(o["before"], "as in [make, assets]"), At: v.at,
	}
	b.Go = r.path(o["go"], "as in go: ../cmd/app")
	b.Context = r.path(o["context"], "as in context: ../app")
	if b.Dockerfile = r.path(o["dockerfile"], "as in dockerfile: Dockerfile.dev"); b.Dockerfile == "Dockerfile" {
		b.Dockerfile = "" // said or not, it is the same
	}
	return b
}

// path reads the path of something that must have one.
func (r *reader) path(v *value, hint string) string {
	text, ok := r.plain(v)
	if ok && strings.TrimSpace(text) == "" {
		r.faultAt(v, hint, "is empty")
	}
	return text
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

func (r *reader) files(v *value) []experiment.FileSpec {
	var out []experiment.FileSpec
	for _, f := range r.names(v, "as in {/etc/app.conf: text}") {
		out = append(out, experiment.FileSpec{Path: f.name, Content: r.template(f.value, ""), At: f.at})
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
		if err != nil {
			r.faultAt(item, hint, "%w", err)
			continue
		}
		out = append(out, port)
	}
	return out
}

func limitsShape() shape { return shape{known: words("cpus memory pids")} }

func (r *reader) limits(v *value) experiment.LimitsSpec {
	o := r.object(v, limitsShape())
	return experiment.LimitsSpec{
		CPUs: r.template(o["cpus"], ""), Memory: r.template(o["memory"], ""), PIDs: r.template(o["pids"], ""),
	}
}

func jobShape() shape { return shape{known: words("within")} }

// job reads whether a service is one, or how long it may take.
func (r *reader) job(v *value) (job bool, within time.Duration) {
	if v == nil || v.kind != mapping {
		if job = r.boolean(v, false); job {
			within = experiment.DefaultJobWithin
		}
		return job, within
	}
	o := r.object(v, jobShape())
	r.require(v, o, "within")
	within = r.duration(o["within"], experiment.DefaultJobWithin)
	if within < time.Millisecond {
		r.faultAt(o["within"], "", "%q is shorter than 1ms", o["within"].text)
	}
	return true, within
}

func linkShape() shape { return shape{known: words("from to latency")} }

func (r *reader) link(v *value) experiment.LinkSpec {
	l := experiment.LinkSpec{At: v.at}
	o := r.object(v, linkShape())
	r.require(v, o, "from", "to")
	l.From, _ = r.plain(o["from"])
	l.To, l.Port = r.address(o["to"])
	l.Latency = r.template(o["latency"], "0s")
	return l
}
