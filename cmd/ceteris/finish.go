package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/hostcmd"
)

// The bounds of an on_finish command: after an abort somebody waits for the end.
const (
	finishTime        = time.Minute
	finishTimeAborted = 5 * time.Second
)

// onFinish runs the command of a matrix whose turn is over, however it ended, in the
// matrix's directory and without a shell. What it prints goes to standard error; its
// failure is a warning. sweep is 0 if none was begun.
func (a *app) onFinish(ctx context.Context, m *experiment.Matrix, sweep int64, code int, database string) {
	if len(m.OnFinish) == 0 {
		return
	}
	limit := finishTime
	if ctx.Err() != nil {
		ctx, limit = context.WithoutCancel(ctx), finishTimeAborted
	}
	env := append(os.Environ(), "CETERIS_SWEEP=", "CETERIS_EXIT="+strconv.Itoa(code), "CETERIS_DB="+database)
	if sweep != 0 {
		env = append(env, "CETERIS_SWEEP="+strconv.FormatInt(sweep, 10))
	}
	if err := runBounded(ctx, m.OnFinish, m.Origin.Dir, env, deaf{a.err}, limit); err != nil {
		a.log.Warn("on_finish", "matrix", m.Name, "err", err)
		return
	}
	a.log.Info("on_finish is done", "matrix", m.Name)
}

// runBounded runs a command, which the limit, or the end of ctx, ends with all that it
// has started.
func runBounded(ctx context.Context, argv []string, dir string, env []string, out io.Writer, limit time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("killed after %v", limit))
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, out, out
	cmd.WaitDelay = time.Second // for what it has left in the background, with its output
	err := hostcmd.Run(cmd)
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return nil
	case errors.Is(context.Cause(ctx), context.Canceled):
		return fmt.Errorf("%s: killed, for ceteris is aborted", argv[0])
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", argv[0], context.Cause(ctx))
	default:
		return fmt.Errorf("%s: %w", argv[0], err)
	}
}

// deaf writes, and minds no failure: a command must not end because nobody listens
// to ceteris.
type deaf struct{ w io.Writer }

func (d deaf) Write(p []byte) (int, error) {
	_, _ = d.w.Write(p)
	return len(p), nil
}
