package conduct_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
	"github.com/ceteris/ceteris/runners/fake"
)

func TestPrepare(t *testing.T) {
	for _, tc := range []struct {
		name   string
		answer string
		want   map[string]int
	}{
		{"goes well", "", map[string]int{"ok": 4}},
		{"a command fails", "seed", map[string]int{"failed:subject (prepare: store: run seed it: seed ended with 7: no space)": 4}},
		{"an expectation is not met", "count", map[string]int{`failed:subject (prepare: app: run count: rows is "no space", not "5")`: 4}},
		{"a container fails", "step", map[string]int{"failed:subject (prepare: migrate:2: run up to 3: run up to 3 ended with 7: no space)": 4}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStage(t)
			s.matrix.Repeat.Rounds = 1
			s.service("store").Prepare.Steps = []experiment.Step{{Run: run("seed", "it")}}
			s.matrix.Prepare = []experiment.Step{
				{Image: experiment.Literal("migrate:2"), Run: run("up", "to", "3"), Regex: "at (?P<version>[0-9]+)", Is: []experiment.Expected{{Name: "version", Value: experiment.Literal("3")}}},
				{In: "app", Run: run("count"), Regex: "(?s)(?P<rows>.*)", Is: []experiment.Expected{{Name: "rows", Value: experiment.Literal("5")}}},
			}
			var order []string
			s.answering(func(svc experiment.Service, argv string) (experiment.ExecResult, bool) {
				if argv == "settings" {
					return experiment.ExecResult{}, false
				}
				order = append(order, svc.Name+": "+argv)
				switch {
				case tc.answer == "seed" && strings.HasPrefix(argv, "seed"):
					return experiment.ExecResult{Code: 7, Output: []byte("no space")}, true
				case tc.answer == "count" && argv == "count":
					return text("no space")
				}
				return text("5")
			})
			healthy := s.script.Service
			s.script.Service = func(r fake.Run, svc experiment.Service) fake.Behaviour {
				if svc.Name != "step-1" {
					return healthy(r, svc)
				}
				order = append(order, fmt.Sprintf("%s %s %v", svc.Name, svc.Image, svc.Job))
				if tc.answer == "step" {
					return fake.Behaviour{Stdout: "no space", Exit: &fake.Exit{Code: 7}}
				}
				return fake.Behaviour{Stdout: "now at 2\nnow at 3\n"}
			}
			s.mustConduct()
			s.wantStates(tc.want)
			if tc.answer == "" {
				if diff := cmp.Diff(order[:3], []string{"store: seed it", "step-1 migrate:2 true", "app: count"}); diff != "" {
					t.Errorf("order (-got +want):\n%s", diff)
				}
			}
		})
	}
}

// shelf keeps snapshots in memory.
type shelf map[string][]byte

func (s shelf) Open(key string) (io.ReadCloser, error) {
	b, ok := s[key]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

func (s shelf) Create(key string) (experiment.SnapshotWriter, error) {
	return &shelved{shelf: s, key: key}, nil
}

type shelved struct {
	bytes.Buffer
	shelf shelf
	key   string
}

func (w *shelved) Commit() error { w.shelf[w.key] = w.Bytes(); return nil }

func (w *shelved) Close() error { return nil }

// A prepared volume is made once, and every run starts from a copy, the first too.
func TestSnapshot(t *testing.T) {
	s := newStage(t)
	kept := shelf{}
	s.change = func(c *conduct.Conductor) { c.Snapshots = kept }
	store := s.service("store")
	store.Volumes = []experiment.Volume{{Name: "data", Target: "/data"}}
	store.Prepare = experiment.Preparation{Steps: []experiment.Step{{Run: run("seed")}}, Snapshot: true}
	store.Env = []experiment.EnvVar{{Name: "SYNC", Value: run("${log}")[0]}}
	seeds := 0
	s.answering(func(_ experiment.Service, argv string) (experiment.ExecResult, bool) {
		if argv == "seed" {
			seeds++
		}
		return experiment.ExecResult{}, argv == "seed"
	})
	var events []bool
	s.on = func(e conduct.Event) {
		if e.Kind == conduct.EventSnapshot && e.Service == "store" {
			events = append(events, e.Restored)
		}
	}
	s.mustConduct()
	s.wantStates(map[string]int{"ok": 12})
	made := 0
	for _, restored := range events {
		if !restored {
			made++
		}
	}
	// Two keys: the setting of the log is in the environment of the store.
	if seeds != 2 || len(kept) != 2 || made != 2 || len(events) != 12 {
		t.Errorf("%d preparations, %d snapshots, %d of %d made; want 2, 2, 2 of 12", seeds, len(kept), made, len(events))
	}
	launches := map[string]int{}
	for _, e := range s.runner.Events() {
		if f := strings.Fields(e); f[0] == "launch" && f[2] == "store" {
			launches[f[1]]++
		}
	}
	twice := 0
	for _, n := range launches {
		if n == 2 {
			twice++
		}
	}
	if len(launches) != 12 || twice != 2 {
		t.Errorf("launches of the store by run: %v", launches)
	}
}

// fullShelf has no room.
type fullShelf struct{ shelf }

func (s fullShelf) Create(string) (experiment.SnapshotWriter, error) { return noRoom{}, nil }

type noRoom struct{}

func (noRoom) Write([]byte) (int, error) { return 0, errors.New("no room") }

func (noRoom) Commit() error { return nil }

func (noRoom) Close() error { return nil }

// What cannot be kept is prepared in every run, and it is said once why.
func TestSnapshotThatCannotBeKept(t *testing.T) {
	inBubble(func(t *testing.T) {
		s := newStage(t)
		s.matrix.Repeat.Rounds = 1
		var log bytes.Buffer
		s.change = func(c *conduct.Conductor) {
			c.Snapshots, c.Log = fullShelf{}, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
		}
		store := s.service("store")
		store.Volumes = []experiment.Volume{{Name: "data", Target: "/data"}}
		store.Prepare = experiment.Preparation{Steps: []experiment.Step{{Run: run("seed")}}, Snapshot: true}
		seeds := 0
		s.answering(func(_ experiment.Service, argv string) (experiment.ExecResult, bool) {
			if argv == "seed" {
				seeds++
			}
			return experiment.ExecResult{}, argv == "seed"
		})
		s.mustConduct()
		got := s.states()
		if failed := len(got) - 1; got["ok"] != 4 || failed != 1 || seeds != 5 {
			t.Errorf("runs %v after %d preparations; want 4 ok and one that failed, 5", got, seeds)
		}
		if want := `msg="no snapshot: every run is prepared anew" service=store why="no room"`; strings.Count(log.String(), want) != 1 {
			t.Errorf("said:\n%s\nwant once: %s", log.String(), want)
		}
	})(t)
}
