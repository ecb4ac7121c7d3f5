package runnertest

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

func testEnforces(t *testing.T, s *suite) {
	c := s.Capabilities
	want := experiment.Enforces{Cores: c.Pins, CPUs: c.LimitsCPU, Memory: c.LimitsMemory, PIDs: c.LimitsPIDs}
	if s.host.Enforces != want {
		t.Errorf("the host enforces %+v, the runner claims %+v", s.host.Enforces, want)
	}
	if len(s.host.Cores) == 0 || s.host.Memory <= 0 || s.host.Arch == "" || s.host.Kernel == "" {
		t.Errorf("host: %+v", s.host)
	}
}

// testCores pins to the first and to the last core in turn, and looks at every
// thread of the service and of its children.
func testCores(t *testing.T, s *suite) {
	cores := s.host.Cores
	for _, set := range []experiment.CoreSet{cores[:1], cores[len(cores)-1:], cores} {
		t.Run(set.String(), func(t *testing.T) {
			w := s.open(t)
			svc := s.Subject("fork")
			svc.Cores = set
			p := w.launch(svc)
			type thread struct {
				PID           int
				Task, Allowed string
			}
			threads := getJSON[[]thread](w, p, "/cpus")
			pids := map[int]bool{}
			for _, th := range threads {
				pids[th.PID] = true
				if th.Allowed != set.String() {
					t.Errorf("thread %s of process %d may use %q, want %q", th.Task, th.PID, th.Allowed, set)
				}
			}
			if len(threads) < 20+3 || len(pids) != 1+3 {
				t.Errorf("saw %d threads of %d processes, want over 22 of 4", len(threads), len(pids))
			}
		})
	}
}

func testCoresMissing(t *testing.T, s *suite) {
	w := s.open(t)
	svc := s.Subject("serve")
	svc.Cores = experiment.CoreSet{4095}
	if err := w.refuse(within(t, patience), svc); errors.Is(err, experiment.ErrNotReady) || errors.Is(err, experiment.ErrExited) {
		t.Errorf("got %v, which blames the service", err)
	}
}

func (w *world) number(p experiment.Proc, path string, params ...string) float64 {
	w.t.Helper()
	text := w.get(p, path, params...)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		w.t.Fatalf("%s: %v", path, err)
	}
	return v
}

// testUsage lets the service say how much processor time it used.
func testUsage(t *testing.T, s *suite) {
	w := s.open(t)
	p := w.launch(s.Subject("serve"))
	before := w.usage(p)
	told := 1.0
	if s.Capabilities.Serves {
		told = w.number(p, "/burn", "ms", "1500", "threads", "1")
	}
	after := w.usage(p)
	if !after.At.After(before.At) {
		t.Errorf("readings at %v and %v", before.At, after.At)
	}
	for counter, v := range before.Counters {
		if counter == experiment.CounterMemory {
			continue // a gauge
		}
		if after.Counters[counter] < v {
			t.Errorf("%s went from %v to %v", counter, v, after.Counters[counter])
		}
	}
	for counter, claimed := range map[experiment.Counter]bool{
		experiment.CounterCPU: true, experiment.CounterMemory: true, experiment.CounterMemoryPeak: s.Capabilities.PeakMemory,
	} {
		if _, ok := after.Counters[counter]; ok != claimed {
			t.Errorf("counter %s: told is %t, claimed is %t", counter, ok, claimed)
		}
	}
	if !s.Capabilities.Serves {
		return
	}
	if used := after.Counters[experiment.CounterCPU] - before.Counters[experiment.CounterCPU]; used < 0.9*told-0.05 || used > 1.1*told+0.2 {
		t.Errorf("processor time: got %.3f s, the service says %.3f s", used, told)
	}
}

func testUsageMemory(t *testing.T, s *suite) {
	w := s.open(t)
	p := w.launch(s.Subject("serve"))
	const taken = 64
	before := w.usage(p).Counters
	w.get(p, "/alloc", "mb", strconv.Itoa(taken))
	after := w.usage(p).Counters
	for _, c := range []experiment.Counter{experiment.CounterMemory, experiment.CounterMemoryPeak} {
		if c == experiment.CounterMemoryPeak && !s.Capabilities.PeakMemory {
			continue
		}
		if grown := (after[c] - before[c]) / (1 << 20); grown < taken-8 || grown > taken+48 {
			t.Errorf("%s grew by %.0f MiB, want %d", c, grown, taken)
		}
	}
}

// testUsageChildren looks for what children of the service use, one outside its
// group among them, in its counters: the service itself uses next to nothing.
func testUsageChildren(t *testing.T, s *suite) {
	w := s.open(t)
	p := w.launch(s.Subject("fork", "CHILDREN=3", "BURN=300ms"))
	const want = 4 * 0.3
	ctx := within(t, patience)
	for used := 0.0; used < 0.95*want; pause(ctx) {
		used = w.usage(p).Counters[experiment.CounterCPU]
		if ctx.Err() != nil {
			t.Fatalf("processor time: got %.3f s, and the four children use %.3f s", used, want)
		}
	}
}

func testUsageNetwork(t *testing.T, s *suite) {
	w := s.open(t)
	a, b := s.Subject("serve"), s.Subject("serve", "LONG="+strings.Repeat("x", 50_000))
	a.Name, b.Name = "a", "b"
	procA, procB := w.launch(a), w.launch(b)
	addr, err := procB.Addr(SubjectPort, experiment.FromService)
	if err != nil {
		t.Fatal(err)
	}
	before := w.usage(procB).Counters
	w.get(procA, "/fetch", "url", "http://"+addr+"/env")
	after := w.usage(procB).Counters
	if sent := after[experiment.CounterNetSent] - before[experiment.CounterNetSent]; sent < 50_000 {
		t.Errorf("bytes sent: got %v, want 50000 or more", sent)
	}
	if got := after[experiment.CounterNetReceived] - before[experiment.CounterNetReceived]; got < 60 {
		t.Errorf("bytes received: got %v, want a request's", got)
	}
}

// testLimitCPU burns on two threads under half a processor.
func testLimitCPU(t *testing.T, s *suite) {
	w := s.open(t)
	svc := s.Subject("serve")
	svc.Limits.CPUs = 0.5
	p := w.launch(svc)
	before := w.usage(p)
	w.get(p, "/burn", "ms", "3000", "threads", "2")
	after := w.usage(p)
	used := after.Counters[experiment.CounterCPU] - before.Counters[experiment.CounterCPU]
	elapsed := after.At.Sub(before.At).Seconds()
	if most := 0.5*elapsed*1.2 + 0.2; used > most {
		t.Errorf("used %.2f s of processor time in %.2f s, want at most %.2f s", used, elapsed, most)
	}
	if !s.Capabilities.ThrottleCounters {
		return
	}
	if a, b := before.Counters[experiment.CounterThrottled], after.Counters[experiment.CounterThrottled]; b <= a {
		t.Errorf("throttled time did not grow under a limit: %v, %v", a, b)
	}
}

func testLimitMemory(t *testing.T, s *suite) {
	w := s.open(t)
	svc := s.Subject("serve")
	svc.Limits.Memory = 64 << 20
	p := w.launch(svc)
	if got, err := w.ask(p, "/alloc", "mb", "256"); err == nil {
		t.Fatalf("256 MiB under a limit of 64 MiB: %s", got)
	}
	if exit := w.wait(p); !exit.OOMKilled || exit.Code != 137 {
		t.Errorf("exit: got %+v, want code 137 for lack of memory", exit)
	}
}

// testLimitPIDs asks for more threads than allowed: the request must not succeed.
// The runtime of the subject ends the process when it gets no thread.
func testLimitPIDs(t *testing.T, s *suite) {
	w := s.open(t)
	svc := s.Subject("serve")
	p := w.launch(svc)
	if got := w.number(p, "/threads", "n", "200"); got < 200 {
		t.Errorf("threads without a limit: got %v, want 200 or more", got)
	}
	svc.Name, svc.Limits.PIDs = "limited", 50
	p = w.launch(svc)
	if got, err := w.ask(p, "/threads", "n", "200"); err == nil {
		t.Errorf("200 threads under a limit of 50: got %s", got)
	}
}
