package gobuild

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/hostcmd"
)

// keepUnused is how long an executable stays in the cache after its last use.
const keepUnused = 30 * 24 * time.Hour

// Options of a Builder; the zero value works.
type Options struct {
	CacheDir string // where executables are kept; default: ceteris in the user's cache directory
	Log      *slog.Logger
}

// Builder compiles each package at most once in its life, and not at all when
// the cache holds its executable. It is safe for concurrent use.
type Builder struct {
	cacheDir string
	log      *slog.Logger

	mu   sync.Mutex
	done map[target]string
}

type target struct{ dir, goos, goarch string }

// New makes a Builder. It touches no file yet.
func New(o Options) *Builder {
	b := &Builder{cacheDir: o.CacheDir, log: o.Log, done: map[target]string{}}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	return b
}

// Binary gives the path of the executable of a build, compiled for the platform.
// What exists already (Build.Binary) is returned as it is after a check that it
// can be started. The path of a compiled one never changes its content, so a
// sweep that runs for hours is safe from edits in between.
//
// A missing go command wraps experiment.ErrCannotRun and carries a hint; the
// compiler's complaints are part of the error's message.
func (b *Builder) Binary(ctx context.Context, build experiment.Build, goos, goarch string) (string, error) {
	switch {
	case build.Binary != "":
		return build.Binary, checkExecutable(build.Binary)
	case build.Go == "":
		return "", errors.New("build: neither a package nor an executable is named")
	}
	if info, err := os.Stat(build.Go); err != nil {
		return "", fmt.Errorf("build: %w", err)
	} else if !info.IsDir() {
		return "", fmt.Errorf("build %s: not a directory", build.Go)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	t := target{build.Go, goos, goarch}
	if path, ok := b.done[t]; ok {
		return path, nil
	}
	path, err := b.compile(ctx, t)
	if err != nil {
		return "", fmt.Errorf("build %s for %s/%s: %w", t.dir, goos, goarch, err)
	}
	b.done[t] = path
	return path, nil
}

// compile goes around again when the sources change under it, so that no
// executable is ever kept under the identity of other sources.
func (b *Builder) compile(ctx context.Context, t target) (string, error) {
	dir, err := b.dir()
	if err != nil {
		return "", err
	}
	name := filepath.Base(t.dir)
	id, err := b.identify(ctx, t)
	if err != nil {
		return "", err
	}
	for {
		home := filepath.Join(dir, fmt.Sprintf("%s-%s-%s-%s", name, t.goos, t.goarch, id[:16]))
		path := filepath.Join(home, name)
		if checkExecutable(path) == nil {
			b.log.Debug("build cached", "package", t.dir, "path", path)
			now := time.Now()
			return path, os.Chtimes(home, now, now)
		}
		began := time.Now()
		after, err := b.link(ctx, t, path, id)
		if err != nil {
			return "", err
		}
		if after == id {
			b.log.Debug("build done", "package", t.dir, "path", path, "took", time.Since(began))
			b.prune(dir)
			return path, nil
		}
		id = after
	}
}

// link builds into a temporary directory and puts the executable in place only
// if the sources are still those of id. It gives their identity afterwards.
func (b *Builder) link(ctx context.Context, t target, path, id string) (string, error) {
	temp, err := os.MkdirTemp(filepath.Dir(filepath.Dir(path)), "tmp-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(temp) }() // what stays is pruned later
	made := filepath.Join(temp, filepath.Base(path))
	if _, err := b.goCommand(ctx, t, "build", "-o", made, "."); err != nil {
		return "", err
	}
	if err := checkExecutable(made); err != nil {
		return "", fmt.Errorf("not a program (package main): %w", err)
	}
	after, err := b.identify(ctx, t)
	if err != nil || after != id {
		return after, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return id, os.Rename(made, path)
}

// identify hashes the build ids of the package and of all it imports. Each holds
// the compiler, the flags and the sources of its package, embedded files too.
func (b *Builder) identify(ctx context.Context, t target) (string, error) {
	out, err := b.goCommand(ctx, t, "list", "-deps", "-export", "-f", "{{.ImportPath}} {{.BuildID}}", ".")
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(out)
	return hex.EncodeToString(sum[:]), nil
}

// goCommand runs a go command in the package's directory. The flags are those
// under which an executable is static and carries no path of this machine;
// -ldflags is emptied because build ids do not cover what GOFLAGS may hold.
func (b *Builder) goCommand(ctx context.Context, t target, verb string, args ...string) ([]byte, error) {
	program, err := exec.LookPath("go")
	if err != nil {
		return nil, experiment.WithHint(fmt.Errorf("no go command on PATH: %w", experiment.ErrCannotRun),
			"install Go (https://go.dev/dl) and put its bin directory on PATH")
	}
	dir, err := b.dir()
	if err != nil {
		return nil, err
	}
	// The files of a go command that is killed would stay where nobody looks for them.
	temp, err := os.MkdirTemp(dir, "tmp-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(temp) }() // what stays is pruned later
	cmd := exec.CommandContext(ctx, program, append([]string{verb, "-trimpath", "-buildvcs=false", "-ldflags="}, args...)...)
	cmd.Dir = t.dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.goos, "GOARCH="+t.goarch, "PWD="+t.dir, "GOTMPDIR="+temp)
	cmd.WaitDelay = 5 * time.Second
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err = hostcmd.Run(cmd)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && complaint.Len() > 0:
		return nil, fmt.Errorf("go %s: %w\n%s", verb, err, strings.TrimSpace(complaint.String()))
	case err != nil:
		return nil, fmt.Errorf("go %s: %w", verb, err)
	}
	return out.Bytes(), nil
}

func (b *Builder) dir() (string, error) {
	root := b.cacheDir
	if root == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", experiment.WithHint(fmt.Errorf("find the cache directory: %w", err), "set HOME or XDG_CACHE_HOME")
		}
		root = filepath.Join(user, "ceteris")
	}
	dir := filepath.Join(root, "build")
	return dir, os.MkdirAll(dir, 0o755)
}

// prune removes what no sweep has used for long. A fault here costs disk only.
func (b *Builder) prune(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		b.log.Debug("prune builds", "err", err)
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > keepUnused {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				b.log.Debug("prune builds", "err", err)
			}
		}
	}
}

func checkExecutable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &fs.PathError{Op: "run", Path: path, Err: errors.New("not a regular file")}
	case info.Mode()&0o111 == 0:
		return &fs.PathError{Op: "run", Path: path, Err: errors.New("not executable")}
	}
	return nil
}

// Digest identifies the content of an executable: "sha256:" and 64 hex digits.
func Digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("digest %s: %w", path, err)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}
