package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ceteris/ceteris/db"
)

// The scripts in testdata/script are named by behaviour and run the real program.
// $MATRICES is testdata; every script has a database ($CETERIS_DB), a state
// directory, a temporary directory and locks of its own, shares the user's build
// caches, and finds no container engine.
func TestScript(t *testing.T) {
	runScripts(t, filepath.Join("testdata", "script"))
}

// locksVar names the directory in which the program of the tests keeps the locks of
// hosts: tests that run beside one another, or beside a ceteris that measures, do
// not mind. The program of users has no such variable.
const locksVar = "CETERIS_TEST_LOCKS"

// TestMain makes the test binary the program ceteris, too, and one without subjects.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ceteris": func() {
		os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, []string{os.Getenv(locksVar)}))
	}, fakeProgram: fakeMain})
}

func runScripts(t *testing.T, dir string) {
	t.Helper()
	matrices, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	sample := sync.OnceValues(func() (string, error) { return measureSample(t, matrices) })
	testscript.Run(t, testscript.Params{
		Dir:                dir,
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			for _, kv := range os.Environ() {
				if name, _, _ := strings.Cut(kv, "="); name == "HOME" || name == "XDG_CACHE_HOME" || strings.HasPrefix(name, "GO") {
					env.Vars = append(env.Vars, kv)
				}
			}
			env.Setenv("MATRICES", matrices)
			env.Setenv("CETERIS_DB", filepath.Join(env.WorkDir, "t.db"))
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv(locksVar, env.WorkDir)
			env.Setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
			env.Values[jobsKey{}] = &jobs{env: env.Vars, running: map[string]*exec.Cmd{}}
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "root":
				return os.Geteuid() == 0, nil
			case "mounts":
				return mayMount(t), nil
			}
			return false, fmt.Errorf("unknown condition %s", name)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":     exits,
			"start":     start,
			"signal":    signalJob,
			"ends":      ends,
			"await":     await,
			"await-row": awaitRow,
			"hold":      hold,
			"look":      look,
			"disk":      disk,
			"edit":      edit,
			"wider":     wider,
			"sample": func(ts *testscript.TestScript, _ bool, _ []string) {
				made, err := sample()
				ts.Check(err)
				whole, err := os.ReadFile(made)
				ts.Check(err)
				ts.Check(os.WriteFile(ts.Getenv("CETERIS_DB"), whole, 0o644))
			},
		},
	})
}

// scriptPatience bounds what takes seconds on an idle host.
const scriptPatience = 2 * time.Minute

// measureSample measures the sweep that all scripts share that only read.
func measureSample(t *testing.T, matrices string) (string, error) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sample.db")
	cmd := exec.CommandContext(t.Context(), "ceteris", "--db", path, "run", filepath.Join(matrices, "tiny.yaml"))
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "CETERIS_LIBEXEC=", locksVar+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("measure the sample: %w\n%s", err, out)
	}
	return path, nil
}

// exits CODE COMMAND ARGS... runs a command that must end with the code, or with one
// of several (0,5: measured, whatever a busy host made of the runs).
func exits(ts *testscript.TestScript, _ bool, args []string) {
	checkCode(ts, ts.Exec(args[1], args[2:]...), args[0])
}

func checkCode(ts *testscript.TestScript, err error, want string) {
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if !slices.Contains(strings.Split(want, ","), strconv.Itoa(got)) {
		ts.Fatalf("exit code %d, want %s", got, want)
	}
}

type jobsKey struct{}

// jobs are the commands of a script that run in the background.
type jobs struct {
	env     []string
	running map[string]*exec.Cmd
	reader  *onlooker
}

// start NAME COMMAND ARGS... runs a command in the background; its outputs are in
// $WORK/NAME.out and $WORK/NAME.err.
func start(ts *testscript.TestScript, _ bool, args []string) {
	j := ts.Value(jobsKey{}).(*jobs)
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, kv := range j.env {
		name, _, _ := strings.Cut(kv, "=")
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name)) // as it is now
	}
	for _, stream := range []struct {
		name string
		to   *io.Writer
	}{{".out", &cmd.Stdout}, {".err", &cmd.Stderr}} {
		f, err := os.Create(filepath.Join(ts.Getenv("WORK"), args[0]+stream.name))
		ts.Check(err)
		ts.Defer(func() { _ = f.Close() })
		*stream.to = f
	}
	ts.Check(cmd.Start())
	j.running[args[0]] = cmd
	ts.Defer(func() {
		if j.running[args[0]] != nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
}

// signal NAME INT|TERM|HUP|KILL
func signalJob(ts *testscript.TestScript, _ bool, args []string) {
	sig := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL}[args[1]]
	ts.Check(ts.Value(jobsKey{}).(*jobs).running[args[0]].Process.Signal(sig))
}

// ends NAME CODE waits for the end of a background command.
func ends(ts *testscript.TestScript, _ bool, args []string) {
	j := ts.Value(jobsKey{}).(*jobs)
	cmd := j.running[args[0]]
	hung := time.AfterFunc(scriptPatience, func() { _ = cmd.Process.Kill() })
	defer hung.Stop()
	err := cmd.Wait()
	delete(j.running, args[0])
	ts.Logf("[stderr of %s]\n%s", args[0], ts.ReadFile(filepath.Join(ts.Getenv("WORK"), args[0]+".err")))
	checkCode(ts, err, args[1])
}

// await FILE REGEXP waits until the file holds a match.
func await(ts *testscript.TestScript, _ bool, args []string) {
	want, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	poll(ts, strings.Join(args, " "), func() bool {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && want.Match(text)
	})
}

// await-row QUERY waits until the query on the script's database has a row.
func awaitRow(ts *testscript.TestScript, _ bool, args []string) {
	ctx := context.Background()
	poll(ts, args[0], func() bool {
		r, err := db.OpenReadOnly(ctx, ts.Getenv("CETERIS_DB"))
		if err != nil {
			return false
		}
		defer r.Close()
		_, rows, err := r.Query(ctx, args[0])
		if err != nil {
			return false
		}
		for _, err := range rows {
			return err == nil
		}
		return false
	})
}

func poll(ts *testscript.TestScript, what string, done func() bool) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(scriptPatience)
	for !done() {
		select {
		case <-tick.C:
		case <-late:
			ts.Fatalf("waited too long for %s", what)
		}
	}
}

// hold takes the lock of the script's database, as another ceteris would.
func hold(ts *testscript.TestScript, _ bool, _ []string) {
	lock, err := db.Lock(ts.Getenv("CETERIS_DB"))
	ts.Check(err)
	ts.Defer(func() { _ = lock.Release() })
}

// look begins to read the script's database as another program would, until the end
// of the script or until "look away".
func look(ts *testscript.TestScript, _ bool, args []string) {
	j := ts.Value(jobsKey{}).(*jobs)
	if len(args) > 0 {
		ts.Check(j.reader.Close())
		return
	}
	j.reader = &onlooker{}
	ts.Check(j.reader.open(ts.Getenv("CETERIS_DB")))
	ts.Defer(func() { _ = j.reader.Close() })
}

// onlooker holds a database as somebody does who reads it for long.
type onlooker struct {
	pool *sql.DB
	rows *sql.Rows
}

func (r *onlooker) open(path string) (err error) {
	if r.pool, err = sql.Open("sqlite3", path); err != nil {
		return err
	}
	rows, err := r.pool.QueryContext(context.Background(), "select id from runs")
	if err != nil {
		return err
	}
	rows.Next() // and no further
	r.rows = rows
	return rows.Err()
}

// Close implements io.Closer.
func (r *onlooker) Close() error { return errors.Join(r.rows.Close(), r.pool.Close()) }

// disk DIR SIZE mounts a file system in memory of so many bytes until the end of the
// script.
func disk(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.Mkdir(dir, 0o755))
	ts.Check(mountMemory(dir, args[1]))
	ts.Defer(func() { _ = syscall.Unmount(dir, 0) })
}

func mountMemory(dir, size string) error {
	return syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size)
}

// mayMount reports whether this process may mount a file system.
func mayMount(t *testing.T) bool {
	dir := t.TempDir()
	return mountMemory(dir, "4096") == nil && syscall.Unmount(dir, 0) == nil
}

// edit FILE STATEMENT changes a database behind the back of ceteris.
func edit(ts *testscript.TestScript, _ bool, args []string) {
	pool, err := sql.Open("sqlite3", ts.MkAbs(args[0]))
	ts.Check(err)
	defer pool.Close()
	_, err = pool.ExecContext(context.Background(), args[1])
	ts.Check(err)
}

// wider NARROW WIDE compares two exports in JSON: in the second every interval of
// the primary metric holds that of the first, and more.
func wider(ts *testscript.TestScript, _ bool, args []string) {
	narrow, wide := intervals(ts, args[0]), intervals(ts, args[1])
	if len(narrow) == 0 || len(narrow) != len(wide) {
		ts.Fatalf("%d and %d intervals", len(narrow), len(wide))
	}
	for i, n := range narrow {
		if w := wide[i]; *w.Low >= *n.Low || *w.High <= *n.High {
			ts.Fatalf("interval %d: [%v, %v] is not wider than [%v, %v]", i, *w.Low, *w.High, *n.Low, *n.High)
		}
	}
}

type interval struct{ Low, High *float64 }

// intervals gives those of the primary metric, of each cell alone and against the
// baseline.
func intervals(ts *testscript.TestScript, file string) []interval {
	var export struct {
		Cells []struct {
			Metrics []struct {
				Primary            bool
				Interval, Compared *interval
			}
		}
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(file)), &export))
	var all []interval
	for _, c := range export.Cells {
		for _, m := range c.Metrics {
			for _, i := range []*interval{m.Interval, m.Compared} {
				if m.Primary && i != nil && i.Low != nil && i.High != nil {
					all = append(all, *i)
				}
			}
		}
	}
	return all
}
