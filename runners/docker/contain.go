package docker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moby/moby/api/types/container"

	"github.com/ceteris/ceteris/experiment"
)

// contain sets what a service asks for that only containers have.
func contain(h *container.HostConfig, c experiment.Container) {
	for _, t := range c.Tmpfs {
		if h.Tmpfs == nil {
			h.Tmpfs = map[string]string{}
		}
		target, options, _ := strings.Cut(t, ":")
		h.Tmpfs[target] = options
	}
	h.ShmSize = c.ShmSize
	for _, u := range c.Ulimits {
		h.Ulimits = append(h.Ulimits, &container.Ulimit{Name: u.Name, Soft: u.Soft, Hard: u.Hard})
	}
	for _, s := range c.Sysctls {
		if h.Sysctls == nil {
			h.Sysctls = map[string]string{}
		}
		h.Sysctls[s.Key] = s.Value
	}
	h.CapAdd = append(h.CapAdd, c.CapAdd...)
}

// limitsFiles reports whether a service sets its own limit of open files.
func limitsFiles(s experiment.Service) bool {
	return slices.ContainsFunc(s.Container.Ulimits, func(u experiment.UlimitValue) bool { return u.Name == "nofile" })
}

// checkPaths says why files of a service would not be there when it starts, or would
// be somebody else's.
func checkPaths(s experiment.Service) error {
	for _, f := range s.Files {
		for _, t := range s.Container.Tmpfs {
			if target, _, _ := strings.Cut(t, ":"); below(f.Path, target) {
				return fmt.Errorf("file %s lies in the tmpfs %s, which is empty when the container starts", f.Path, target)
			}
		}
		for _, m := range s.Mounts {
			if below(f.Path, m.Target) {
				return fmt.Errorf("file %s lies in the mount %s and would be written to %s of the host", f.Path, m.Target, m.Source)
			}
		}
	}
	return nil
}

// below reports whether a path is the directory or lies in it.
func below(path, dir string) bool {
	dir = strings.TrimSuffix(dir, "/")
	return path == dir || strings.HasPrefix(path, dir+"/")
}

// insideOnly names the file system of a container that the engine does not show to
// others, if the path lies in one.
func insideOnly(s experiment.Service, path string) (string, bool) {
	dirs := []string{"/proc", "/sys", "/dev"}
	for _, t := range s.Container.Tmpfs {
		dir, _, _ := strings.Cut(t, ":")
		dirs = append(dirs, dir)
	}
	i := slices.IndexFunc(dirs, func(dir string) bool { return below(path, dir) })
	if i < 0 {
		return "", false
	}
	return dirs[i], true
}
