package process

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// volumesDir holds the volumes of a run, in its directory. No service has such a name.
const volumesDir = ".volumes"

// volume gives the directory of a volume of the run.
func (e *env) volume(name string) string { return filepath.Join(e.files.dir, volumesDir, name) }

// places says where on this host the files, volumes and mounts of a service lie.
type places struct {
	files string            // holds files under their whole paths
	dirs  map[string]string // of volumes and mounts, by target
}

func (e *env) places(s experiment.Service) places {
	p := places{files: filepath.Join(e.files.dir, s.Name, "files"), dirs: map[string]string{}}
	for _, m := range s.Mounts {
		p.dirs[m.Target] = m.Source
	}
	for _, v := range s.Volumes {
		p.dirs[v.Target] = e.volume(v.Name)
	}
	return p
}

// of gives the path of a file: below the innermost volume or mount that holds it, else
// among the files of the service.
func (p places) of(path string) string {
	if host, ok := p.inDirs(path); ok {
		return host
	}
	return filepath.Join(p.files, path)
}

func (p places) inDirs(path string) (string, bool) {
	for target := path; ; target = filepath.Dir(target) {
		if dir, ok := p.dirs[target]; ok {
			return filepath.Join(dir, strings.TrimPrefix(path, target)), true
		}
		if target == "/" || target == "." {
			return "", false
		}
	}
}

// known gives the path of a file that the service declares; others are the host's.
func (p places) known(s experiment.Service, path string) string {
	if slices.ContainsFunc(s.Files, func(f experiment.File) bool { return f.Path == path }) {
		return p.of(path)
	}
	if host, ok := p.inDirs(path); ok {
		return host
	}
	return path
}

// furnish makes the volumes of a service, as far as no other one of the run has brought
// them, its files, and the directory in which it is to write.
func (e *env) furnish(s experiment.Service, p places) error {
	for _, v := range s.Volumes {
		if err := os.MkdirAll(e.volume(v.Name), 0o755); err != nil {
			return fmt.Errorf("make volume %s: %w", v.Name, err)
		}
	}
	if s.Output != "" {
		if err := os.MkdirAll(filepath.Dir(p.of(s.Output)), 0o755); err != nil {
			return fmt.Errorf("make room for %s: %w", s.Output, err)
		}
	}
	texts, err := s.FileTexts()
	if err != nil {
		return err
	}
	for path, text := range texts {
		host := p.of(path)
		if err := os.MkdirAll(filepath.Dir(host), 0o755); err != nil {
			return fmt.Errorf("write file %s: %w", path, err)
		}
		if err := os.WriteFile(host, []byte(text), 0o644); err != nil {
			return fmt.Errorf("write file %s: %w", path, err)
		}
	}
	return nil
}
