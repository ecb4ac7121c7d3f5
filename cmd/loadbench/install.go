//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// install finds the programs of the wanted peers, and where install is set gets those
// which are missing: with apt-get as root, and Go modules into the cache. What cannot be
// had is told and left out.
func (b *bench) install(ctx context.Context) error {
	wanted := having(peers(), func(t *tool) bool { return b.compares(t.name) })
	if b.get {
		b.installPackages(ctx, wanted)
	}
	for _, t := range wanted {
		var err error
		if t.path, err = b.find(ctx, t); err != nil {
			fmt.Fprintf(b.log, "%s is left out: %v\n", t.name, err)
			continue
		}
		b.peers = append(b.peers, t)
	}
	b.ours = &tool{name: ours, loop: true, open: true, invoke: loadgen, path: filepath.Join(b.dir, ours)}
	build := exec.CommandContext(ctx, "go", "build", "-o", b.ours.path, "github.com/ceteris/ceteris/cmd/loadgen")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", ours, err, out)
	}
	return ctx.Err()
}

func (b *bench) installPackages(ctx context.Context, wanted []*tool) {
	var pkgs []string
	for _, t := range wanted {
		if _, err := exec.LookPath(t.name); err != nil && t.source.pkg != "" {
			pkgs = append(pkgs, t.source.pkg)
		}
	}
	if len(pkgs) == 0 {
		return
	}
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		fmt.Fprintf(b.log, "missing: %s (as root on Debian: apt-get install %[1]s)\n", strings.Join(pkgs, " "))
		return
	}
	cmd := exec.CommandContext(ctx, "apt-get", append([]string{"install", "--yes", "--no-install-recommends"}, pkgs...)...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(b.log, "apt-get: %v: %s\n", err, out)
	}
}

// find gives the program of a tool. One that is a module is taken from the cache, so that
// it is of the version named here.
func (b *bench) find(ctx context.Context, t *tool) (string, error) {
	if t.source.module == "" || t.source.slow {
		if file, err := exec.LookPath(t.name); err == nil || t.source.module == "" {
			return file, err
		}
	}
	module, version, _ := strings.Cut(t.source.module, "@")
	dir := filepath.Join(b.cache, t.name+"-"+version)
	file := filepath.Join(dir, programOf(module))
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	if !b.get || t.source.slow && !b.slow {
		return "", errors.New("it is neither on the PATH nor in the cache, and was not to be built")
	}
	fmt.Fprintf(b.log, "building %s\n", t.source.module)
	cmd := exec.CommandContext(ctx, "go", "install", t.source.module)
	cmd.Dir = b.dir // outside of any module
	cmd.Env = append(os.Environ(), "GOBIN="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go install %s: %w: %s", t.source.module, err, out)
	}
	return file, nil
}

// programOf is what "go install" names the program of a module.
func programOf(module string) string {
	name := path.Base(module)
	if regexp.MustCompile(`^v[0-9]+$`).MatchString(name) {
		return path.Base(path.Dir(module))
	}
	return name
}
