package db

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

// The test binary plays other processes of a test: childVar says which, childDB
// on which database.
const (
	childVar = "CETERIS_DB_TEST_CHILD"
	childDB  = "CETERIS_DB_TEST_PATH"
)

func TestMain(m *testing.M) {
	flag.Parse()
	children := map[string]func(context.Context, string) error{
		"write": childWrite, "lock": childLock, "read": childRead, "open": childOpen,
	}
	name := os.Getenv(childVar)
	if name == "" {
		os.Exit(m.Run())
	}
	if err := children[name](context.Background(), os.Getenv(childDB)); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child prepares the test binary in a role.
func child(t *testing.T, name, path string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), exe)
	c.Env = append(os.Environ(), childVar+"="+name, childDB+"="+path)
	return c
}

// childWrite plays a sweep until it is killed: it prints a line for each run
// that is stored.
func childWrite(ctx context.Context, path string) error {
	lock, err := Lock(path)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Release() }() // this process is killed before
	d, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	spec := testSpec()
	spec.New = true
	spec.Rounds = 1000
	head, err := d.BeginSweep(ctx, spec)
	if err != nil {
		return err
	}
	for round := 1; ; round++ {
		add := experiment.ScheduleRound(spec.Cells, round, 1)
		if err := d.Reschedule(ctx, head.ID, experiment.Reschedule{Add: add}); err != nil {
			return err
		}
		pending, err := d.Pending(ctx, head.ID)
		if err != nil {
			return err
		}
		for _, run := range pending {
			if run, err = d.BeginRun(ctx, run); err != nil {
				return err
			}
			if err := d.EndRun(ctx, testOutcome(run, 100), nil); err != nil {
				return err
			}
			fmt.Println("stored", run.ID)
		}
		if err := d.Checkpoint(ctx); err != nil {
			return err
		}
	}
}

// childLock holds the lock until its standard input ends.
func childLock(_ context.Context, path string) error {
	if _, err := Lock(path); err != nil {
		return err
	}
	fmt.Println("locked")
	var b [1]byte
	_, err := os.Stdin.Read(b[:])
	return err
}

// childRead prints how many sweeps and series values there are.
func childRead(ctx context.Context, path string) error {
	r, err := OpenReadOnly(ctx, path)
	if err != nil {
		return err
	}
	defer r.Close()
	all, err := r.Sweeps(ctx)
	if err != nil {
		return err
	}
	fmt.Println("sweeps", len(all), "copied", r.copy != "")
	return nil
}

// childOpen opens for writing.
func childOpen(ctx context.Context, path string) error {
	d, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	_, err = d.Close(ctx)
	return err
}
