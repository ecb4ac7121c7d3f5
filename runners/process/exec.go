package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ceteris/ceteris/experiment"
)

// Exec implements experiment.Execer: the command runs in the service's directory,
// with its environment and on its cores, and ends with ctx. What it leaves in the
// background ends with the service.
func (p *proc) Exec(ctx context.Context, argv []string) (experiment.ExecResult, error) {
	if len(argv) == 0 {
		return experiment.ExecResult{}, errors.New("exec: no command")
	}
	if _, gone := p.gone(); gone {
		return experiment.ExecResult{}, fmt.Errorf("exec in service %s: it has ended", p.service.Name)
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = p.dir, p.environ
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) } // called before it is reaped
	cmd.WaitDelay = time.Second
	err := start(cmd, p.cores)
	if noProgram(err) {
		err = fmt.Errorf("%w: %w", experiment.ErrNoCommand, err)
	}
	if err != nil {
		return experiment.ExecResult{}, fmt.Errorf("exec in service %s: %w", p.service.Name, err)
	}
	err = cmd.Wait()
	if ctx.Err() != nil {
		return experiment.ExecResult{}, fmt.Errorf("exec in service %s: %w", p.service.Name, ctx.Err())
	}
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) && !errors.Is(err, exec.ErrWaitDelay) {
		return experiment.ExecResult{}, fmt.Errorf("exec in service %s: %w", p.service.Name, err)
	}
	return experiment.ExecResult{Code: cmd.ProcessState.ExitCode(), Output: out.Bytes()}, nil
}

// noProgram says of the error of a start whether it is the program that is at fault.
func noProgram(err error) bool {
	for _, fault := range []error{exec.ErrNotFound, exec.ErrDot, unix.ENOENT, unix.ENOTDIR, unix.EISDIR, unix.EACCES, unix.ENOEXEC} {
		if errors.Is(err, fault) {
			return true
		}
	}
	return false
}

// ReadFile implements experiment.Execer. A relative path starts in the service's
// directory, an absolute one at the host's root, unless it is that of a declared file
// or in a volume.
func (p *proc) ReadFile(_ context.Context, path string) ([]byte, error) {
	if path = p.places.known(p.service, path); !filepath.IsAbs(path) {
		path = filepath.Join(p.dir, path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read file in service %s: %w", p.service.Name, err)
	}
	return b, nil
}
