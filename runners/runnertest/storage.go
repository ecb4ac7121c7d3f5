package runnertest

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func execer(t *testing.T, p experiment.Proc) experiment.Execer {
	t.Helper()
	x, ok := p.(experiment.Execer)
	if !ok {
		t.Fatalf("%T is no Execer", p)
	}
	return x
}

func keeper(t *testing.T, e experiment.Env) experiment.VolumeKeeper {
	t.Helper()
	k, ok := e.(experiment.VolumeKeeper)
	if !ok {
		t.Fatalf("%T is no VolumeKeeper", e)
	}
	return k
}

// where gives what ${file:PATH} stands for in a launched service.
func where(t *testing.T, p experiment.Proc, file string) string {
	t.Helper()
	r, ok := p.(experiment.Resolver)
	if !ok {
		t.Fatalf("%T is no Resolver", p)
	}
	got, ok := r.Resolve(experiment.Ref{Kind: experiment.RefFile, Name: file})
	if !ok {
		t.Fatalf("${file:%s} stands for nothing", file)
	}
	return got
}

// withEnv adds a variable whose value holds references.
func withEnv(svc experiment.Service, name, value string) experiment.Service {
	svc.Env = append(svc.Env, experiment.EnvVar{Name: name, Value: reference(value)})
	return svc
}

func testFiles(t *testing.T, s *suite) {
	const conf, plain = "/etc/ceteris test/app.conf", "/srv/a/b/c/plain"
	w := s.open(t)
	svc := withEnv(s.Subject("serve"), "CONF", "${file:"+conf+"}")
	svc.Command = []experiment.Template{reference("--conf=${file:" + conf + "}")}
	svc.Files = []experiment.File{
		{Path: conf, Content: reference("listen ${self:8080};\nme ${file:" + conf + "};\ncost $5 and $${x}\n")},
		{Path: plain, Content: experiment.Literal("")},
		{Path: "/srv/a/second", Content: experiment.Literal("two")},
	}
	p := w.launch(svc)
	at := where(t, p, conf)
	listen, ok := p.(experiment.Resolver).Resolve(experiment.Ref{Kind: experiment.RefSelf, Port: SubjectPort})
	if !ok {
		t.Error("${self} stands for nothing")
	}
	want := fmt.Sprintf("listen %s;\nme %s;\ncost $5 and ${x}\n", listen, at)
	x := execer(t, p)
	for file, text := range map[string]string{conf: want, plain: "", "/srv/a/second": "two"} {
		if b, err := x.ReadFile(within(t, patience), file); err != nil || string(b) != text {
			t.Errorf("%s: got %q, %v, want %q", file, b, err, text)
		}
	}
	if !s.Capabilities.Serves {
		return
	}
	if got := w.get(p, "/read", "name", at); got != want {
		t.Errorf("the service reads %q, want %q", got, want)
	}
	if got := getJSON[map[string]string](w, p, "/env"); got["CONF"] != at || got["LISTEN"] != listen {
		t.Errorf("CONF is %q, LISTEN %q, want %q, %q", got["CONF"], got["LISTEN"], at, listen)
	}
	if diff := cmp.Diff(getJSON[[]string](w, p, "/args"), []string{"--conf=" + at}); diff != "" {
		t.Errorf("arguments (-got +want):\n%s", diff)
	}
	// A directory that was missing is not open to everybody.
	if got := w.get(p, "/ls", "name", path.Dir(path.Dir(where(t, p, plain)))); !strings.HasPrefix(got, " drwxr-xr-x ") || !strings.Contains(got, "/c/plain -rw-r--r-- ") {
		t.Errorf("files and their directories:\n%s", got)
	}
}

func testFilesUnresolved(t *testing.T, s *suite) {
	w := s.open(t)
	svc := s.Subject("serve")
	svc.Files = []experiment.File{{Path: "/etc/app.conf", Content: reference("${addr:store:6379}")}}
	if err := w.refuse(within(t, patience), svc); !strings.Contains(err.Error(), "/etc/app.conf") || !strings.Contains(err.Error(), "${addr:store:6379}") {
		t.Errorf("got %v, want the file and the reference", err)
	}
}

// testVolumes has two services with a volume in common, under different targets, of
// which one is launched again.
func testVolumes(t *testing.T, s *suite) {
	w := s.open(t)
	a, b := s.Subject("serve"), s.Subject("serve")
	a.Name, b.Name = "a", "b"
	a.Volumes = []experiment.Volume{{Name: "data", Target: "/var/lib/data"}, {Name: "own", Target: "/own"}}
	a.Files = []experiment.File{{Path: "/var/lib/data/sub/seed", Content: experiment.Literal("seed")}}
	b.Volumes = []experiment.Volume{{Name: "data", Target: "/shared"}, {Name: "other", Target: "/own"}}
	procA, procB := w.launch(a), w.launch(b)
	w.get(procA, "/write", "name", where(t, procA, "/var/lib/data/note"), "text", "shared")
	w.get(procA, "/write", "name", where(t, procA, "/own/note"), "text", "a's")
	outside := w.get(procA, "/write", "name", "outside", "text", "gone with the service")
	for file, want := range map[string]string{"/shared/note": "shared", "/shared/sub/seed": "seed"} {
		if got := w.get(procB, "/read", "name", where(t, procB, file)); got != want {
			t.Errorf("%s: got %q, want %q", file, got, want)
		}
		if got, err := execer(t, procB).ReadFile(within(t, patience), file); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", file, got, err, want)
		}
	}
	if got, err := w.ask(procB, "/read", "name", where(t, procB, "/own/note")); err == nil {
		t.Errorf("another volume has the note: %q", got)
	}
	w.stop(procA)
	procA = w.launch(a)
	if got := w.get(procA, "/read", "name", where(t, procA, "/own/note")); got != "a's" {
		t.Errorf("after another launch: got %q", got)
	}
	if got, err := w.ask(procA, "/read", "name", outside); err == nil {
		t.Errorf("what lay in no volume is still there: %q", got)
	}
}

// testKeep copies volumes from one environment to the next.
func testKeep(t *testing.T, s *suite) {
	svc := s.Subject("job", "TEXT=kept")
	svc = withEnv(svc, "OUT", "${file:/data/content}")
	svc.Job, svc.Volumes = true, []experiment.Volume{{Name: "data", Target: "/data"}}
	first := s.open(t)
	var saved bytes.Buffer
	if err := keeper(t, first.env).SaveVolumes(within(t, patience), svc.Name, &saved); err == nil {
		t.Error("save before the launch: no error")
	}
	if exit := first.wait(first.launch(svc)); exit.Code != 0 {
		t.Fatalf("the job ended with %d", exit.Code)
	}
	saved = first.save(svc.Name)
	if diff := cmp.Diff(regularFiles(t, saved), map[string]string{"data/content": "kept"}); diff != "" {
		t.Errorf("saved (-got +want):\n%s", diff)
	}
	first.close()

	second := s.open(t)
	other := s.Subject("job") // writes nothing
	other.Job, other.Volumes = true, svc.Volumes
	second.restore(other, saved)
	second.wait(second.launch(other))
	again := second.save(other.Name)
	if diff := cmp.Diff(regularFiles(t, again), map[string]string{"data/content": "kept"}); diff != "" {
		t.Errorf("saved again (-got +want):\n%s", diff)
	}
	second.restore(other, saved) // it has ended, and makes room
	second.wait(second.launch(other))
	if err := keeper(t, second.env).RestoreVolumes(within(t, patience), other, strings.NewReader("no archive at all")); err == nil {
		t.Error("restored from no archive")
	}
}

func (w *world) save(service string) (saved bytes.Buffer) {
	w.t.Helper()
	if err := keeper(w.t, w.env).SaveVolumes(within(w.t, patience), service, &saved); err != nil {
		w.t.Fatalf("save volumes: %v", err)
	}
	return saved
}

func (w *world) restore(svc experiment.Service, saved bytes.Buffer) {
	w.t.Helper()
	if err := keeper(w.t, w.env).RestoreVolumes(within(w.t, patience), svc, &saved); err != nil {
		w.t.Fatalf("restore volumes: %v", err)
	}
}

// regularFiles reads the files of an archive.
func regularFiles(t *testing.T, archive bytes.Buffer) map[string]string {
	t.Helper()
	out := map[string]string{}
	for r := tar.NewReader(&archive); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			b, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			out[path.Clean(h.Name)] = string(b)
		}
	}
}

// testKeepFiles copies two volumes with modes, owners and links.
func testKeepFiles(t *testing.T, s *suite) {
	svc := s.Subject("serve")
	svc.Volumes = []experiment.Volume{{Name: "one", Target: "/a/one"}, {Name: "two", Target: "/two"}}
	first := s.open(t)
	p := first.launch(svc)
	first.get(p, "/make", "name", where(t, p, "/a/one"))
	first.get(p, "/write", "name", where(t, p, "/two/big"), "text", strings.Repeat("0123456789", 1000))
	list := func(w *world, p experiment.Proc) string {
		return w.get(p, "/ls", "name", where(t, p, "/a/one")) + "\n" + w.get(p, "/ls", "name", where(t, p, "/two"))
	}
	want := list(first, p)
	if !strings.Contains(want, "/closed dr-x------ ") || !strings.Contains(want, "/closed/tool -rwxr-x--x ") {
		t.Fatalf("made:\n%s", want)
	}
	if err := keeper(t, first.env).SaveVolumes(within(t, patience), svc.Name, io.Discard); err == nil {
		t.Error("save while it lives: no error")
	}
	if err := keeper(t, first.env).RestoreVolumes(within(t, patience), svc, strings.NewReader("")); err == nil {
		t.Error("restore while it lives: no error")
	}
	first.stop(p)
	saved := first.save(svc.Name)
	first.close()

	second := s.open(t)
	second.restore(svc, saved)
	if diff := cmp.Diff(list(second, second.launch(svc)), want); diff != "" {
		t.Errorf("restored (-got +want):\n%s", diff)
	}
}

// testKeepShared restores a volume that a job has filled before, which has ended, and
// one that a service uses, which lives.
func testKeepShared(t *testing.T, s *suite) {
	w := s.open(t)
	filler := func(name, text string) experiment.Service {
		svc := withEnv(s.Subject("job", "TEXT="+text), "OUT", "${file:/data/content}")
		svc.Name, svc.Job = name, true
		svc.Volumes = []experiment.Volume{{Name: "data", Target: "/data"}}
		return svc
	}
	w.wait(w.launch(filler("first", "early")))
	saved := w.save("first")
	w.wait(w.launch(filler("second", "late")))
	db := s.Subject("serve")
	db.Name, db.Volumes = "db", []experiment.Volume{{Name: "data", Target: "/var/data"}}
	w.restore(db, saved)
	p := w.launch(db)
	if s.Capabilities.Serves {
		if got := w.get(p, "/read", "name", where(t, p, "/var/data/content")); got != "early" {
			t.Errorf("restored: got %q, want what was saved", got)
		}
	}
	other := filler("third", "x")
	err := keeper(t, w.env).RestoreVolumes(within(t, patience), other, bytes.NewReader(saved.Bytes()))
	if err == nil || !strings.Contains(err.Error(), "service db uses volume data") {
		t.Errorf("restored beside a service that lives: got %v", err)
	}
}

// testJob has jobs that end before anybody can look.
func testJob(t *testing.T, s *suite) {
	w := s.open(t)
	for i, code := range []int{0, 3} {
		svc := withEnv(s.Subject("job", fmt.Sprintf("CODE=%d", code), "TEXT=result"), "OUT", "${file:/out/result}")
		svc.Name = fmt.Sprintf("job%d", i)
		svc.Job, svc.Ports = true, nil
		svc.Volumes = []experiment.Volume{{Name: svc.Name, Target: "/out"}}
		svc.Env = append(svc.Env[:1:1], svc.Env[2:]...) // it listens nowhere
		p := w.launch(svc)
		if exit := w.wait(p); exit.Code != code || exit.OOMKilled {
			t.Errorf("exit: got %+v, want code %d", exit, code)
		}
		w.usage(p)
		if !s.Capabilities.Serves {
			continue
		}
		if out := w.logs(p); !strings.Contains(out, "working\n") || !strings.Contains(out, fmt.Sprintf("done with %d\n", code)) {
			t.Errorf("output after the end: got %q", out)
		}
		x := execer(t, p)
		if got, err := x.ReadFile(within(t, patience), "/out/result"); err != nil || string(got) != "result" {
			t.Errorf("file after the end: got %q, %v", got, err)
		}
		if _, err := x.ReadFile(within(t, patience), "/out/missing"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("missing file after the end: got %v, want it to wrap %v", err, fs.ErrNotExist)
		}
	}
}

// testJobUsage asks for the counters of a job that has ended: what it used is not lost.
func testJobUsage(t *testing.T, s *suite) {
	w := s.open(t)
	svc := s.Subject("job", "BURN=600ms")
	svc.Job = true
	p := w.launch(svc)
	w.wait(p)
	u := w.usage(p)
	if cpu := u.Counters[experiment.CounterCPU]; s.host.Local && cpu < 0.3 {
		t.Errorf("processor time of a job that used 0.6 s: %v", cpu)
	}
}

func testAgain(t *testing.T, s *suite) {
	w := s.open(t)
	svc := s.Subject("serve", "N=1")
	p := w.launch(svc)
	if _, err := w.env.Launch(within(t, patience), svc); err == nil {
		t.Error("launched twice: no error")
	}
	w.stop(p)
	p = w.launch(s.Subject("serve", "N=2"))
	if out := w.logs(p); strings.Contains(out, "terminated") {
		t.Errorf("the output of the first is still there: %q", out)
	}
	if s.Capabilities.Serves {
		if got := getJSON[map[string]string](w, p, "/env")["N"]; got != "2" {
			t.Errorf("launched again: N is %q", got)
		}
	}
	w.stop(p)
}

// testAliases reaches two replicas by their own names and by the common one.
func testAliases(t *testing.T, s *suite) {
	w := s.open(t)
	for _, name := range []string{"app-1", "app-2"} {
		svc := s.Subject("serve", "WHO="+name)
		svc.Name, svc.Alias = name, "app"
		w.launch(svc)
	}
	client := s.Subject("serve")
	client.Name = "client"
	p := w.launch(client)
	for name, wants := range map[string]string{"app-1": "app-1", "app-2": "app-2", "app": "app-"} {
		got := w.get(p, "/fetch", "url", fmt.Sprintf("http://%s:%d/env", name, SubjectPort))
		if !strings.Contains(got, `"WHO":"`+wants) {
			t.Errorf("%s answers %s", name, got)
		}
	}
}

// testDaemons relies on the check of what is left when the world is closed.
func testDaemons(t *testing.T, s *suite) {
	w := s.open(t)
	w.get(w.launch(s.Subject("daemon")), "/healthz")
	w.close()
	if left := s.remains(t, w.owner); len(left) > 0 {
		t.Errorf("left after close: %q", left)
	}
}
