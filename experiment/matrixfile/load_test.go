package matrixfile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/matrixfile"
	"github.com/ceteris/ceteris/matrices"
)

// TestGolden pins the normalised form, defaults filled in, and the identity, of a small
// matrix and of two that have every key between them. A change of either makes other
// sweeps of the matrices that people have.
func TestGolden(t *testing.T) {
	for _, name := range []string{"base", "whole", "external"} {
		t.Run(name, func(t *testing.T) {
			m := parse(t, string(readFile(t, "testdata/"+name+".yaml")))
			got, err := json.MarshalIndent(m, "", "\t")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, "\nsweep "+m.Hash()+"\n"...)
			golden := "testdata/" + name + ".golden"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(got), string(readFile(t, golden))); diff != "" {
				t.Errorf("matrix (-got +want):\n%s", diff)
			}
		})
	}
}

func parse(t *testing.T, src string) *experiment.Matrix {
	t.Helper()
	m, err := matrixfile.Parse("m.yaml", "/matrices", []byte(src))
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return m
}

// TestVerbatim shows that YAML's own ideas of numbers, truth and null do not touch
// what a level says.
func TestVerbatim(t *testing.T) {
	texts := []string{
		"1.10", "0x10", "0o17", "010", "1_000", "1e3", ".5", "+1", ".inf", "true", "True", "yes", "off", "No",
		"2001-01-01", "12:30:45", `"null"`, `"~"`, `""`, `" x "`, "ünïcode", "'it''s'", `"tab\\t"`, "a b", "&x 5",
	}
	want := []string{
		"1.10", "0x10", "0o17", "010", "1_000", "1e3", ".5", "+1", ".inf", "true", "True", "yes", "off", "No",
		"2001-01-01", "12:30:45", "null", "~", "", " x ", "ünïcode", "it's", `tab\t`, "a b", "5",
	}
	base := string(readFile(t, "testdata/base.yaml"))
	src := strings.Replace(base, "factors:\n", "factors:\n  text: ["+strings.Join(texts, ", ")+"]\n", 1)
	src = strings.Replace(src, "env:\n        LISTEN", "env:\n        TEXT: \"${text}\"\n        LISTEN", 1)
	m := parse(t, src)
	var got []string
	for _, l := range m.Factors[0].Levels {
		got = append(got, l.Text)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("levels (-got +want):\n%s", diff)
	}
}

// TestOrder shows that services, variables, factors and levels keep theirs.
func TestOrder(t *testing.T) {
	m := parse(t, string(readFile(t, "testdata/base.yaml")))
	var got []string
	for _, s := range m.Subject.Services {
		got = append(got, s.Name)
		for _, e := range s.Env {
			got = append(got, e.Name)
		}
	}
	for _, f := range m.Factors {
		got = append(got, f.Name)
		for _, l := range f.Levels {
			got = append(got, l.Text)
		}
	}
	want := []string{"redis", "app", "LISTEN", "REDIS", "THREADS", "threads", "8", "32", "latency", "200us", "2ms"}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("order (-got +want):\n%s", diff)
	}
}

func TestPositions(t *testing.T) {
	m := parse(t, string(readFile(t, "testdata/base.yaml")))
	app := m.Subject.Services[1]
	for _, c := range []struct {
		what string
		at   experiment.Pos
		want string
	}{
		{"service", app.At, "m.yaml:15:5"},
		{"variable", app.Env[2].Value.At, "m.yaml:22:18"},
		{"build", app.Build.At, "m.yaml:16:14"},
		{"ready", app.Ready.At, "m.yaml:23:14"},
		{"confirm", app.Confirm[0].At, "m.yaml:26:11"},
		{"link", m.Subject.Links[0].At, "m.yaml:28:7"},
		{"latency", m.Subject.Links[0].Latency.At, "m.yaml:28:46"},
		{"factor", m.Factors[1].At, "m.yaml:31:3"},
		{"level", m.Factors[1].Levels[1].At, "m.yaml:31:20"},
		{"load", m.Load.At, "m.yaml:33:3"},
	} {
		if c.at.String() != c.want {
			t.Errorf("%s stands at %v, want %s", c.what, c.at, c.want)
		}
	}
}

func TestAliases(t *testing.T) {
	base := string(readFile(t, "testdata/base.yaml"))
	src := strings.Replace(base, "limits: {cpus: 1, memory: 512MiB}", "limits: &l {cpus: 1, memory: 512MiB}", 1)
	src = strings.Replace(src, "    app:\n", "    other:\n      image: x:1\n      ports: &p [7000]\n      needs: [redis]\n    app:\n", 1)
	src = strings.Replace(src, "  links:\n", "    last:\n      image: x:1\n      limits: *l\n      ports: *p\n  links:\n", 1)
	m := parse(t, src)
	last := m.Subject.Services[3]
	if got := last.Limits.Memory.String(); got != "512MiB" || len(last.Ports) != 1 || last.Ports[0] != 7000 {
		t.Errorf("aliases gave limit %q and ports %v", got, last.Ports)
	}
}

// TestBounds shows that neither size, depth nor aliases let a file grow without
// end.
func TestBounds(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := '1'; i < '9'; i++ {
		before := "*a" + string(i-1)
		bomb.WriteString("a" + string(i) + ": &a" + string(i) + " [" + strings.Repeat(before+", ", 9) + before + "]\n")
	}
	for _, c := range []struct{ name, src, want string }{
		{"size", strings.Repeat("#", matrixfile.MaxBytes+1), "m.yaml:1:1: larger than 1024 KiB"},
		{"aliases", bomb.String(), "more than 20000 values"},
		{"depth", "name: " + strings.Repeat("[", 40) + strings.Repeat("]", 40), "nested deeper than 24 levels"},
		{"deep flow", "name: " + strings.Repeat("[", 200_000), "this is not YAML: exceeded max depth of 10000"},
		{"bytes", "name: a\xff", "m.yaml:1:8: byte 0xff is not UTF-8"},
		{"other encoding", "\xff\xfen\x00", "m.yaml:1:1: byte 0xff is not UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := matrixfile.Parse("m.yaml", "/", []byte(c.src))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %.300v, want %q in it", err, c.want)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	src := readFile(t, "testdata/base.yaml")
	path := filepath.Join(dir, "base.yaml")
	if err := os.WriteFile(path, src, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	m, err := matrixfile.Load("base.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if m.Origin.File != "base.yaml" || m.Origin.Dir != dir || m.Origin.Source != string(src) || len(m.Origin.SHA256) != 64 {
		t.Errorf("origin is %q in %q", m.Origin.File, m.Origin.Dir)
	}
	p, err := m.Plan(m.Cells()[0])
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(filepath.Dir(dir), "cmd/app"); p.Services[1].Build.Go != want {
		t.Errorf("build of %q, want %q", p.Services[1].Build.Go, want)
	}
	if _, err := matrixfile.Load("none.yaml"); !errors.Is(err, fs.ErrNotExist) || err.Error() != "none.yaml: no such file or directory" {
		t.Errorf("a missing file gave %v", err)
	}
}

// TestLoadOfNoRegularFile: nobody writes into the pipe, and the device has no end.
func TestLoadOfNoRegularFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, "/dev/zero"} {
		_, err := matrixfile.Load(path)
		if faults := experiment.FieldErrors(err); len(faults) != 1 || err.Error() != path+": not a regular file" {
			t.Errorf("%s gave %v", path, err)
		}
	}
}

// TestShipped loads every shipped matrix and resolves it for the runners that can
// execute it.
func TestShipped(t *testing.T) {
	want := map[string]struct {
		cells, rounds int
		warnings      string
	}{
		"quickstart.yaml":        {10, 3, "level-out-of-reach factors.threads.levels[3]"},
		"coupon-lookup.yaml":     {6, 3, "level-out-of-reach factors.threads.levels[2]"},
		"coupon-locked.yaml":     {6, 3, "level-out-of-reach factors.threads.levels[2]"},
		"coupon-as-found.yaml":   {10, 5, "level-out-of-reach factors.threads.levels[2]"},
		"coupon-ladder.yaml":     {12, 3, ""},
		"memory-limits.yaml":     {4, 5, "unconfirmed factors.memory"},
		"nginx-keepalive.yaml":   {3, 5, ""},
		"postgres-pooler.yaml":   {4, 5, "unconfirmed factors.via unconfirmed factors.pool_mode"},
		"redis-batch.yaml":       {4, 5, "unconfirmed factors.pipeline"},
		"redis-io-threads.yaml":  {3, 5, ""},
		"redis-persistence.yaml": {4, 5, ""},
		"spike.yaml":             {3, 5, ""},
		"tomcat-startup.yaml":    {5, 5, ""},
	}
	files, err := fs.Glob(matrices.FS, "*.yaml")
	if err != nil || len(files) != len(want) {
		t.Fatalf("shipped: %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			m, err := matrixfile.Load(filepath.Join("../../matrices", file))
			if err != nil {
				t.Fatal(err)
			}
			embedded, err := matrices.FS.ReadFile(file)
			if err != nil || !bytes.Equal(embedded, []byte(m.Origin.Source)) {
				t.Errorf("the embedded file differs: %v", err)
			}
			for _, runner := range []string{experiment.RunnerDocker, experiment.RunnerProcess} {
				if m.Runner != experiment.RunnerAuto && m.Runner != runner {
					continue
				}
				r := m.ForRunner(runner)
				if err := r.ValidateRunner(); err != nil {
					t.Errorf("for %s: %v", runner, err)
				}
				checkBuilds(t, r)
			}
			w, cells := want[file], m.Cells()
			if m.Name+".yaml" != file || len(cells) != w.cells || m.Repeat.Rounds != w.rounds {
				t.Errorf("%s: %d cells x %d rounds, want %d x %d", m.Name, len(cells), m.Repeat.Rounds, w.cells, w.rounds)
			}
			var warned []string
			for _, w := range m.Warnings() {
				warned = append(warned, w.Code+" "+w.Path)
			}
			if diff := cmp.Diff(strings.Join(warned, " "), w.warnings); diff != "" {
				t.Errorf("warnings (-got +want):\n%s", diff)
			}
		})
	}
}

// TestBaselines pins where the two shipped studies of one system start.
func TestBaselines(t *testing.T) {
	for file, want := range map[string]string{"coupon-lookup.yaml": "false", "coupon-locked.yaml": "true"} {
		m, err := matrixfile.Load(filepath.Join("../../matrices", file))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := m.Cells()[0].Lookup("validate_connection"); got != want {
			t.Errorf("%s: validate_connection is %s at the baseline, want %s", file, got, want)
		}
	}
}

// checkBuilds wants every package that the matrix builds to exist.
func checkBuilds(t *testing.T, m *experiment.Matrix) {
	t.Helper()
	p, err := m.Plan(m.Cells()[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Services {
		if s.Build == nil {
			continue
		}
		source := filepath.Join(s.Build.Go, "main.go")
		if s.Build.Context != "" {
			source = filepath.Join(s.Build.Context, "Dockerfile")
		}
		if _, err := os.Stat(source); err != nil {
			t.Errorf("%s is built of nothing: %v", s.Name, err)
		}
	}
}

// TestLineEnds: a file from another editor is the same sweep, faults at the same
// places.
func TestLineEnds(t *testing.T) {
	base := string(readFile(t, "testdata/base.yaml"))
	want := parse(t, base)
	for name, src := range map[string]string{
		"carriage returns": strings.ReplaceAll(base, "\n", "\r\n"),
		"byte order mark":  "\ufeff" + base,
		"no last newline":  strings.TrimSuffix(base, "\n"),
		"document marks":   "---\n" + base + "...\n",
	} {
		if got := parse(t, src); got.Hash() != want.Hash() {
			t.Errorf("%s: another sweep", name)
		}
	}
	_, err := matrixfile.Parse("m.yaml", "/", []byte(strings.ReplaceAll(strings.Replace(base, "users: 64", "users: 0", 1), "\n", "\r\n")))
	if want := `m.yaml:35:19: load.closed.users: "0" lies outside 1 to 100000`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestLanguageExample reads the whole example of the language's description.
func TestLanguageExample(t *testing.T) {
	m := parse(t, string(readFile(t, "testdata/language.yaml")))
	if n := len(m.Cells()); n != 10 {
		t.Errorf("%d cells, want 10", n)
	}
	var unconfirmed []string
	for _, w := range m.Warnings() {
		if w.Code == experiment.CodeUnconfirmed {
			unconfirmed = append(unconfirmed, w.Path)
		}
	}
	want := []string{"factors.log_level", "factors.validate_connection", "factors.pool_size"}
	if diff := cmp.Diff(unconfirmed, want); diff != "" {
		t.Errorf("factors that nothing confirms (-got +want):\n%s", diff)
	}
}
