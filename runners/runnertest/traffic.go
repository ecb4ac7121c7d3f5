package runnertest

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func testTexts(t *testing.T, s *suite) {
	t.Setenv("CETERIS_TEST_LEAK", "of the conductor")
	w := s.open(t)
	want := map[string]string{
		"PLAIN": "1.10", "SPACES": " a  b ", "EQUALS": "k=v", "DOLLAR": "$HOME ${HOME}",
		"LINES": "one\ntwo", "EMPTY": "", "QUOTES": `it's "quoted"`,
	}
	var env []string
	for k, v := range want {
		env = append(env, k+"="+v)
	}
	svc := s.Subject("serve", env...)
	svc.Command = []experiment.Template{experiment.Literal("-x"), experiment.Literal("a b"), reference("${self:8080}")}
	p := w.launch(svc)
	got := getJSON[map[string]string](w, p, "/env")
	for k, v := range want {
		if g, ok := got[k]; g != v || !ok {
			t.Errorf("%s: got %q, want %q", k, g, v)
		}
	}
	if leak, ok := got["CETERIS_TEST_LEAK"]; ok {
		t.Errorf("the environment of the conductor arrived: %q", leak)
	}
	args := []string{"-x", "a b", got["LISTEN"]}
	if diff := cmp.Diff(getJSON[[]string](w, p, "/args"), args); diff != "" {
		t.Errorf("arguments (-got +want):\n%s", diff)
	}
}

// testReach has two environments at once, and in each two services with the same
// declared port.
func testReach(t *testing.T, s *suite) {
	for _, w := range []*world{s.open(t), s.open(t)} {
		a, b := s.Subject("serve", "WHO=a"), s.Subject("serve", "WHO="+w.owner)
		a.Name, b.Name = "a", "b"
		procA, procB := w.launch(a), w.launch(b)
		addr, err := procB.Addr(SubjectPort, experiment.FromService)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.get(procA, "/fetch", "url", "http://"+addr+"/env"); !strings.Contains(got, `"WHO":"`+w.owner+`"`) {
			t.Errorf("a asked b and got %s", got)
		}
	}
}

func testOutput(t *testing.T, s *suite) {
	w := s.open(t)
	p := w.launch(s.Subject("serve"))
	w.awaitLog(p, "listening on")
	w.awaitLog(p, "mode serve\n")
	if s.Capabilities.Serves {
		w.get(p, "/log", "lines", "2", "text", "out", "to", "stdout")
		w.get(p, "/log", "lines", "1", "text", "err", "to", "stderr")
		w.awaitLog(p, "errxxxxxx\n")
		if got := strings.Count(w.logs(p), "outxxxxxx\n"); got != 2 {
			t.Errorf("lines on standard output: got %d, want 2", got)
		}
	}
}

func testFollow(t *testing.T, s *suite) {
	w := s.open(t)
	svc := s.Subject("serve")
	svc.Role = experiment.RoleLoad // only a generator's output is followed
	p := w.launch(svc)
	r, err := p.Logs(within(t, 2*patience), true)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	lines := bufio.NewReader(r)
	expect := func(want string) {
		t.Helper()
		if got, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(got, want) {
			t.Fatalf("followed: got %q, %v, want %q", got, err, want)
		}
	}
	expect("listening on")
	if s.Capabilities.Serves {
		w.get(p, "/log", "text", "err", "to", "stderr")
		w.get(p, "/log", "text", "first")
		expect("firstxxxx\n") // live: the service has not ended
		w.get(p, "/log", "text", "second")
	}
	w.stop(p)
	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Fatalf("followed to the end: %v", err)
	}
	if want := "secondxxx\nterminated\n"; s.Capabilities.Serves && string(rest) != want {
		t.Errorf("followed to the end: got %q, want %q", rest, want)
	}
}

func testFollowToTheEnd(t *testing.T, s *suite) {
	w := s.open(t)
	svc := s.Subject("crash", "AFTER=300ms", "CODE=1")
	svc.Role = experiment.RoleLoad
	p := w.launch(svc)
	r, err := p.Logs(within(t, patience), true)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w.crash(p, 1)
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(out), "listening on ") || strings.Contains(string(out), "mode crash") {
		t.Errorf("followed: got %q, want standard output alone, from the start", out)
	}
}

func testLogVolume(t *testing.T, s *suite) {
	w := s.open(t)
	p := w.launch(s.Subject("serve"))
	meter, ok := p.(experiment.LogMeter)
	if !ok {
		t.Fatalf("%T is no LogMeter", p)
	}
	// The conductor reads the counters at the ends of the window: the moments are
	// those of the readings.
	write := func(text, lines string) {
		w.get(p, "/log", "lines", lines, "bytes", "100", "text", text)
		w.get(p, "/log", "lines", "1", "bytes", "50", "text", text+"-last-", "to", "stderr")
		w.awaitLog(p, text+"-last-")
		w.awaitLog(p, text+"xx")
	}
	write("before", "300")
	from := w.usage(p).At
	write("inside", "1000")
	to := w.usage(p).At
	write("after", "70")
	end := w.usage(p).At
	for _, tc := range []struct {
		name     string
		from, to time.Time
		want     experiment.LogVolume
	}{
		{"window", from, to, experiment.LogVolume{Bytes: 1000*100 + 50, Lines: 1001}},
		{"after it", to, end, experiment.LogVolume{Bytes: 70*100 + 50, Lines: 71}},
		{"nothing", to, to, experiment.LogVolume{}},
	} {
		got, err := meter.LogVolume(within(t, patience), tc.from, tc.to)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		if diff := cmp.Diff(got, tc.want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", tc.name, diff)
		}
	}
}

func testExec(t *testing.T, s *suite) {
	w := s.open(t)
	p := w.launch(s.Subject("serve"))
	x := execer(t, p)
	exe := w.get(p, "/exe")
	got, err := x.Exec(within(t, patience), []string{exe, "print", "4", "a  b"})
	if err != nil {
		t.Fatal(err)
	}
	// The second line shows that the command has the service's environment.
	if out := string(got.Output); got.Code != 4 || !strings.Contains(out, "a  b\n") || !strings.Contains(out, "mode serve\n") {
		t.Errorf("exec: got code %d, output %q", got.Code, out)
	}
	const text = "written by the service"
	path := w.get(p, "/write", "name", "note", "text", text)
	if b, err := x.ReadFile(within(t, patience), path); err != nil || string(b) != text {
		t.Errorf("read file: got %q, %v", b, err)
	}
	if _, err := x.ReadFile(within(t, patience), path+"-missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read missing file: got %v, want it to wrap %v", err, fs.ErrNotExist)
	}
}

func testExecMissing(t *testing.T, s *suite) {
	w := s.open(t)
	x := execer(t, w.launch(s.Subject("serve")))
	for _, program := range []string{"/no/such/program", "no-such-program-anywhere"} {
		got, err := x.Exec(within(t, patience), []string{program, "-x"})
		if !errors.Is(err, experiment.ErrNoCommand) || !strings.Contains(err.Error(), program) {
			t.Errorf("exec of %s: got %+v, %v, want an error that names it and wraps %v", program, got, err, experiment.ErrNoCommand)
		}
	}
}
