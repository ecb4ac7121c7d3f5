package compose

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/compose-spec/compose-go/v2/dotenv"
	"github.com/compose-spec/compose-go/v2/types"
)

// service writes one service.
func (c *converter) service(s types.ServiceConfig) *fields {
	at := "services." + s.Name
	if word.MatchString(s.Name) {
		c.drop(at, "the name holds what the name of a service cannot: write letters, digits, _ and -")
	}
	out := mapping()
	out.text("image", c.plain(at+".image", s.Image))
	if s.Build != nil {
		if s.Image != "" {
			out = mapping() // what is built is what runs
			c.drop(at+".image", "the service is built")
		}
		out.sub("build", c.build(at+".build", s.Build))
	}
	if len(s.Entrypoint) > 0 {
		c.drop(at+".entrypoint", "the image's own is used, with command as its arguments")
	}
	out.texts("command", s.Command)
	out.sub("env", c.env(at, s))
	ports := c.ports(at, s)
	out.texts("ports", ports)
	out.texts("needs", sorted(s.DependsOn))
	if c.isJob(s.Name) {
		out.text("job", "true")
		if s.HealthCheck != nil {
			c.drop(at+".healthcheck", "a job is waited for until it ends")
		}
	} else {
		out.sub("ready", c.ready(at, s, ports))
	}
	out.sub("limits", c.limits(at, s))
	if n := replicas(s); n > 1 {
		out.text("replicas", strconv.Itoa(n))
	}
	out.sub("container", c.container(at, s))
	c.volumes(out, at, s)
	c.refused(at, s)
	return out
}

// env writes the variables. The values of env files may be secrets and are not copied:
// they become the caller's.
func (c *converter) env(at string, s types.ServiceConfig) *fields {
	all := map[string]string{}
	for _, file := range s.EnvFiles {
		path := file.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.dir, path)
		}
		values, err := dotenv.Read(path)
		if err != nil {
			c.drop(at+".env_file", "%v", err)
			continue
		}
		c.drop(at+".env_file", "the values of %s are not copied: its variables are taken from the caller's environment", file.Path)
		for name := range values {
			all[name] = "${env:" + name + "}"
		}
	}
	for name, v := range s.Environment {
		all[name] = "${env:" + name + "}"
		if v != nil {
			all[name] = *v
		}
	}
	out := mapping()
	for _, name := range sorted(all) {
		out.add(name, text(all[name]))
	}
	return out
}

// plain is for texts in which no variable of the caller's environment may stand.
func (c *converter) plain(at, s string) string {
	if i := strings.Index(s, "${env:"); i >= 0 {
		name := strings.TrimSuffix(strings.SplitAfter(s[i:], "}")[0], "}")[len("${env:"):]
		c.drop(at, "the variable %s has no default: write its value for %q", name, name)
		return c.plain(at, strings.ReplaceAll(s, "${env:"+name+"}", name))
	}
	return s
}

func (c *converter) build(at string, b *types.BuildConfig) *fields {
	out := mapping().inline()
	out.text("context", c.plain(at+".context", b.Context))
	if b.Dockerfile != "Dockerfile" {
		out.text("dockerfile", b.Dockerfile)
	}
	args := mapping().inline()
	for _, name := range sorted(b.Args) {
		if v := b.Args[name]; v != nil {
			args.text(name, c.plain(at+".args."+name, *v))
		}
	}
	out.sub("args", args)
	if b.Target != "" {
		c.drop(at+".target", "the last stage is built")
	}
	if b.DockerfileInline != "" {
		c.drop(at+".dockerfile_inline", "write it to a file")
	}
	return out
}

func (c *converter) ports(at string, s types.ServiceConfig) []string {
	var out []string
	add := func(p string) {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	published := false
	for _, p := range s.Ports {
		if p.Protocol != "" && p.Protocol != "tcp" {
			c.drop(at+".ports", "%d/%s: only TCP ports are declared", p.Target, p.Protocol)
			continue
		}
		add(strconv.FormatUint(uint64(p.Target), 10))
		published = published || p.Published != ""
	}
	if published {
		c.drop(at+".ports", "nothing is published on the host: the load goes over the run's network")
	}
	for _, e := range s.Expose {
		port, protocol, _ := strings.Cut(e, "/")
		if _, err := strconv.Atoi(port); err == nil && (protocol == "" || protocol == "tcp") {
			add(port)
		}
	}
	return out
}

// isJob reports whether others wait for the service to end.
func (c *converter) isJob(name string) bool {
	for _, s := range c.project.Services {
		if s.DependsOn[name].Condition == types.ServiceConditionCompletedSuccessfully {
			return true
		}
	}
	return false
}

// ready takes the health check, or else the first port.
func (c *converter) ready(at string, s types.ServiceConfig, ports []string) *fields {
	out := mapping().inline()
	h := s.HealthCheck
	switch {
	case h != nil && !h.Disable && len(h.Test) > 1 && h.Test[0] == "CMD":
		out.texts("run", h.Test[1:])
	case h != nil && !h.Disable && len(h.Test) > 1 && h.Test[0] == "CMD-SHELL":
		out.texts("run", []string{"sh", "-c", h.Test[1]})
	case len(ports) > 0:
		out.text("port", ports[0])
		return out
	default:
		return out
	}
	if within := patience(h); within > 0 {
		out.text("within", within.String())
	}
	for key, given := range map[string]bool{"interval": h.Interval != nil, "timeout": h.Timeout != nil} {
		if given {
			c.drop(at+".healthcheck."+key, "readiness is asked every few milliseconds")
		}
	}
	return out
}

// patience is how long compose waits for a service to become healthy.
func patience(h *types.HealthCheckConfig) time.Duration {
	var all time.Duration
	if h.StartPeriod != nil {
		all = time.Duration(*h.StartPeriod)
	}
	if h.Interval != nil && h.Retries != nil {
		all += time.Duration(*h.Interval) * time.Duration(*h.Retries)
	}
	return all.Round(time.Second)
}

func (c *converter) limits(at string, s types.ServiceConfig) *fields {
	out := mapping().inline()
	cpus, memory, pids := float64(s.CPUS), s.MemLimit, s.PidsLimit
	if d := s.Deploy; d != nil {
		if l := d.Resources.Limits; l != nil {
			cpus, memory = max(cpus, float64(l.NanoCPUs)), max(memory, l.MemoryBytes)
			pids = max(pids, l.Pids)
		}
		if d.Resources.Reservations != nil {
			c.drop(at+".deploy.resources.reservations", "see requires, for the whole host")
		}
	}
	if cpus > 0 {
		out.text("cpus", strconv.FormatFloat(cpus, 'f', -1, 64))
	}
	if memory > 0 {
		out.text("memory", size(int64(memory)))
	}
	if pids > 0 {
		out.text("pids", strconv.FormatInt(pids, 10))
	}
	return out
}

// size writes bytes in the largest unit that divides them.
func size(bytes int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if bytes%u.size == 0 {
			return fmt.Sprintf("%d%s", bytes/u.size, u.name)
		}
	}
	return fmt.Sprintf("%dB", bytes)
}

func replicas(s types.ServiceConfig) int {
	switch {
	case s.Scale != nil:
		return *s.Scale
	case s.Deploy != nil && s.Deploy.Replicas != nil:
		return *s.Deploy.Replicas
	default:
		return 1
	}
}

func (c *converter) container(at string, s types.ServiceConfig) *fields {
	out := mapping().inline()
	tmpfs := slices.Clone([]string(s.Tmpfs))
	for _, v := range s.Volumes {
		if v.Type == types.VolumeTypeTmpfs {
			tmpfs = append(tmpfs, v.Target)
		}
	}
	out.texts("tmpfs", tmpfs)
	if s.ShmSize > 0 {
		out.text("shm_size", size(int64(s.ShmSize)))
	}
	ulimits := mapping().inline()
	for _, name := range sorted(s.Ulimits) {
		u := s.Ulimits[name]
		if u.Single != 0 {
			ulimits.text(name, strconv.Itoa(u.Single))
			continue
		}
		both := mapping().inline()
		both.text("soft", strconv.Itoa(u.Soft))
		both.text("hard", strconv.Itoa(u.Hard))
		ulimits.sub(name, both)
	}
	out.sub("ulimits", ulimits)
	sysctls := mapping().inline()
	for _, name := range sorted(s.Sysctls) {
		sysctls.text(name, s.Sysctls[name])
	}
	out.sub("sysctls", sysctls)
	out.texts("cap_add", s.CapAdd)
	out.text("platform", c.plain(at+".platform", s.Platform))
	out.text("user", c.plain(at+".user", s.User))
	return out
}

// volumes writes named volumes and mounts of the host's paths.
func (c *converter) volumes(out *fields, at string, s types.ServiceConfig) {
	var volumes, mounts []string
	for _, v := range s.Volumes {
		suffix := ""
		if v.ReadOnly {
			suffix = ":ro"
		}
		switch {
		case v.Type == types.VolumeTypeVolume && v.Source != "":
			volumes = append(volumes, v.Source+":"+v.Target+suffix)
		case v.Type == types.VolumeTypeVolume:
			c.drop(at+".volumes", "%s: a volume without a name lives one run as it is", v.Target)
		case v.Type == types.VolumeTypeBind:
			source := v.Source
			if !filepath.IsAbs(source) && !strings.HasPrefix(source, ".") {
				source = "./" + source
			}
			mounts = append(mounts, c.plain(at+".volumes", source)+":"+v.Target+suffix)
		case v.Type != types.VolumeTypeTmpfs:
			c.drop(at+".volumes", "%s: a matrix has no volumes of type %s", v.Target, v.Type)
		}
	}
	out.texts("volumes", volumes)
	out.texts("mounts", mounts)
}

// refused names what a matrix refuses for good.
func (c *converter) refused(at string, s types.ServiceConfig) {
	if s.Privileged {
		c.drop(at+".privileged", "refused: a privileged container is the host, and no limit holds for it")
	}
	if s.NetworkMode != "" {
		c.drop(at+".network_mode", "%s is refused: each run has a network of its own", s.NetworkMode)
	}
}
