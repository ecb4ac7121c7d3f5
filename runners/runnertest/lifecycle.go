package runnertest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

func testReady(t *testing.T, s *suite) {
	w := s.open(t)
	p := w.launch(s.Subject("serve"))
	for _, from := range []experiment.Vantage{experiment.FromConductor, experiment.FromService} {
		if addr, err := p.Addr(SubjectPort, from); err != nil || !strings.Contains(addr, ":") {
			t.Errorf("address from vantage %d: got %q, %v", from, addr, err)
		}
	}
	if addr, err := p.Addr(SubjectPort+1, experiment.FromConductor); err == nil {
		t.Errorf("address of an undeclared port: got %q, want an error", addr)
	}
	if s.Capabilities.Serves {
		if got := w.get(p, "/healthz"); got != "ok\n" {
			t.Errorf("health: got %q", got)
		}
	}
}

func testReadyLate(t *testing.T, s *suite) {
	w := s.open(t)
	began := time.Now()
	p := w.launch(s.Subject("late", "AFTER=700ms"))
	if took := time.Since(began); took < 700*time.Millisecond {
		t.Errorf("ready after %v, but it listens after 700ms only", took)
	}
	if s.Capabilities.Serves {
		w.get(p, "/healthz")
	}
}

func testPortReady(t *testing.T, s *suite) {
	w := s.open(t)
	svc := s.Subject("late", "AFTER=500ms")
	svc.Ready = &experiment.Step{Port: SubjectPort, Within: patience}
	p := w.launch(svc)
	if s.Capabilities.Serves {
		w.get(p, "/healthz")
	}
}

func testLogReady(t *testing.T, s *suite) {
	w := s.open(t)
	svc := s.Subject("late", "AFTER=500ms")
	svc.Ready = &experiment.Step{Log: "^mode la", Within: patience} // written to standard error
	w.launch(svc)
}

func testExitsAtOnce(t *testing.T, s *suite) {
	w := s.open(t)
	svc := s.Subject("exit")
	svc.Ready.Within = 10 * time.Minute
	ctx := within(t, patience)
	if err := w.refuse(ctx, svc); !errors.Is(err, experiment.ErrExited) {
		t.Errorf("got %v, want it to wrap %v", err, experiment.ErrExited)
	}
}

func testNeverReady(t *testing.T, s *suite) {
	w := s.open(t)
	svc := s.Subject("silent")
	svc.Ready.Within = 500 * time.Millisecond
	began := time.Now()
	if err := w.refuse(within(t, patience), svc); !errors.Is(err, experiment.ErrNotReady) {
		t.Errorf("got %v, want it to wrap %v", err, experiment.ErrNotReady)
	}
	if took := time.Since(began); took < svc.Ready.Within {
		t.Errorf("gave up after %v, before the %v it had", took, svc.Ready.Within)
	}
}

func testCancelledLaunch(t *testing.T, s *suite) {
	w := s.open(t)
	svc := s.Subject("silent")
	svc.Ready.Within = 10 * time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
	defer cancel()
	if err := w.refuse(ctx, svc); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want it to wrap %v", err, context.DeadlineExceeded)
	} else if errors.Is(err, experiment.ErrNotReady) || errors.Is(err, experiment.ErrExited) {
		t.Errorf("got %v, which blames the service", err)
	}
}

func testUnresolved(t *testing.T, s *suite) {
	w := s.open(t)
	svc := s.Subject("serve")
	svc.Env = append(svc.Env, experiment.EnvVar{Name: "STORE", Value: reference("${addr:store:6379}")})
	if err := w.refuse(within(t, patience), svc); errors.Is(err, experiment.ErrNotReady) || errors.Is(err, experiment.ErrExited) {
		t.Errorf("got %v, which blames the service", err)
	}
}

func testStop(t *testing.T, s *suite) {
	w := s.open(t)
	p := w.launch(s.Subject("serve"))
	if exit := w.stop(p); exit.Code != 0 || exit.OOMKilled {
		t.Errorf("exit after SIGTERM: got %+v, want code 0", exit)
	}
	if s.Capabilities.Serves && !strings.Contains(w.logs(p), "terminated\n") {
		t.Error("the service did not see SIGTERM")
	}
	if err := p.Stop(within(t, patience)); err != nil {
		t.Errorf("stop again: %v", err)
	}
}

func testStubborn(t *testing.T, s *suite) {
	w := s.open(t)
	svc := s.Subject("stubborn")
	svc.StopTimeout = 300 * time.Millisecond
	p := w.launch(svc)
	addr, err := p.Addr(SubjectPort, experiment.FromConductor)
	if err != nil {
		t.Fatal(err)
	}
	if exit := w.stop(p); exit.Code != 137 {
		t.Errorf("exit after SIGKILL: got %+v, want code 137", exit)
	}
	if s.Capabilities.Serves && !refused(t.Context(), addr) {
		t.Error("it still listens after stop")
	}
}

func testExitCode(t *testing.T, s *suite) {
	w := s.open(t)
	began := time.Now()
	p := w.launch(s.Subject("crash", "AFTER=1s", "CODE=7"))
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if exit, err := p.Wait(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("wait for a service that lives: got %+v, %v, want %v", exit, err, context.DeadlineExceeded)
	}
	w.crash(p, 7)
	exit := w.wait(p)
	if exit.Code != 7 || exit.OOMKilled {
		t.Errorf("exit: got %+v, want code 7", exit)
	}
	if exit.At.Before(began.Add(-time.Second)) || exit.At.After(time.Now().Add(time.Second)) {
		t.Errorf("exit at %v, want between %v and now", exit.At, began)
	}
	if again := w.wait(p); again.Code != 7 {
		t.Errorf("exit, asked again: got %+v", again)
	}
	if out := w.logs(p); !strings.Contains(out, "mode crash\n") {
		t.Errorf("output after the end: got %q", out)
	}
}

func testClose(t *testing.T, s *suite) {
	w := s.open(t)
	first, second := s.Subject("fork"), s.Subject("silent")
	first.Name, second.Name = "first", "second"
	second.Ready.Within = 300 * time.Millisecond
	p := w.launch(first)
	addr, err := p.Addr(SubjectPort, experiment.FromConductor)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.env.Launch(within(t, patience), second); !errors.Is(err, experiment.ErrNotReady) {
		t.Errorf("second: got %v, want %v", err, experiment.ErrNotReady)
	}
	w.close()
	if s.Capabilities.Serves && !refused(t.Context(), addr) {
		t.Error("it still listens after close")
	}
	w.close()
	if _, err := w.env.Launch(within(t, patience), first); err == nil {
		t.Error("launch after close: no error")
	}
}

func testPrepared(t *testing.T, s *suite) {
	svc := s.Subject("serve")
	id := s.images[svc.Source()]
	if id == "" {
		t.Fatalf("no identity of %s in %v", svc.Source(), s.images)
	}
	again, err := s.runner.Prepare(within(t, 5*time.Minute), []experiment.Service{svc, svc})
	if err != nil {
		t.Fatal(err)
	}
	if again[svc.Source()] != id {
		t.Errorf("identity, prepared again: got %s, want %s", again[svc.Source()], id)
	}
}
