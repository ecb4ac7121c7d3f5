package matrixfile

import (
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

const (
	hostNetwork = "every run has a network of its own; on the host's, load would meet everything else"
	hostOwn     = "a container that shares this with the host reaches every other run"
	privileged  = "a privileged container can change the host under every other run"
	devices     = "a device belongs to the whole host, and to every other run"
	restarting  = "a service that ends is a finding, and nothing starts it again"
)

// hostNever are the names under which compose gives away what is the host's.
func hostNever() map[string]string {
	return map[string]string{
		"network_mode": hostNetwork, "network": hostNetwork, "networks": hostNetwork,
		"privileged": privileged, "security_opt": privileged,
		"pid": hostOwn, "ipc": hostOwn, "uts": hostOwn, "userns_mode": hostOwn, "cgroup": hostOwn, "cgroup_parent": hostOwn,
		"devices": devices, "restart": restarting,
	}
}

func containerShape() shape {
	return shape{known: words("tmpfs shm_size ulimits sysctls cap_add platform user"), never: hostNever()}
}

func (r *reader) container(v *value) experiment.ContainerSpec {
	o := r.object(v, containerShape())
	c := experiment.ContainerSpec{
		Tmpfs:    r.templates(o["tmpfs"], `as in ["/tmp:size=64m"]`),
		ShmSize:  r.template(o["shm_size"], ""),
		CapAdd:   r.list(o["cap_add"], "as in [NET_ADMIN]"),
		Platform: r.template(o["platform"], ""),
		User:     r.template(o["user"], ""),
	}
	for _, f := range r.names(o["sysctls"], "as in {net.core.somaxconn: 1024}") {
		c.Sysctls = append(c.Sysctls, experiment.EnvVar{Name: f.name, Value: r.template(f.value, "")})
	}
	for _, f := range r.names(o["ulimits"], "as in {nofile: 1024}") {
		c.Ulimits = append(c.Ulimits, r.ulimit(f))
	}
	return c
}

func ulimitShape() shape { return shape{known: words("soft hard")} }

// ulimit reads one limit for both, or the two.
func (r *reader) ulimit(f field) experiment.Ulimit {
	u := experiment.Ulimit{Name: f.name}
	if f.value.kind != mapping {
		u.Soft = r.template(f.value, "")
		u.Hard = u.Soft
		return u
	}
	o := r.object(f.value, ulimitShape())
	r.require(f.value, o, "soft", "hard")
	u.Soft = r.template(o["soft"], "0")
	u.Hard = r.template(o["hard"], u.Soft.String())
	return u
}

// mounts reads HOST:/PATH, with :ro or :rw behind it.
func (r *reader) mounts(v *value) []experiment.MountSpec {
	const form = `as in "./conf:/etc/app:ro"`
	var out []experiment.MountSpec
	for _, item := range r.items(v, form) {
		text, ok := r.text(item)
		if !ok {
			continue
		}
		source, target, readOnly, ok := splitMount(text)
		if !ok || source == "" {
			r.faultAt(item, form, "%q is not HOST:/PATH", text)
			continue
		}
		from := *item
		from.text = source
		out = append(out, experiment.MountSpec{Source: r.template(&from, ""), Target: target, ReadOnly: readOnly, At: item.at})
	}
	return out
}

// splitMount takes WHAT:/PATH[:ro|:rw] apart.
func splitMount(text string) (source, target string, readOnly, ok bool) {
	text, readOnly = strings.CutSuffix(text, ":ro")
	if !readOnly {
		text = strings.TrimSuffix(text, ":rw")
	}
	i := strings.LastIndex(text, ":")
	if i < 0 || !strings.HasPrefix(text[i+1:], "/") || strings.Contains(text[i+1:], "${") {
		return "", "", false, false
	}
	return text[:i], text[i+1:], readOnly, true
}

func (r *reader) volumes(v *value) []experiment.Volume {
	const form = `as in "data:/var/lib/app"`
	var out []experiment.Volume
	for _, item := range r.items(v, form) {
		text, ok := r.plain(item)
		if !ok {
			continue
		}
		name, target, readOnly, ok := splitMount(text)
		switch {
		case !ok || name == "":
			r.faultAt(item, form, "%q is not NAME:/PATH", text)
		case !experiment.ValidName(name):
			r.faultAt(item, "a path of the host belongs into mounts", "%q is no name of a volume", name)
		default:
			out = append(out, experiment.Volume{Name: name, Target: target, ReadOnly: readOnly, At: item.at})
		}
	}
	return out
}
