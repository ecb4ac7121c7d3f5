package probe

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shirou/gopsutil/v4/cpu"

	"github.com/ceteris/ceteris/experiment"
)

// script gives readings one after the other.
func script[T any](readings ...T) func() (T, error) {
	i := -1
	return func() (T, error) {
		if i++; i >= len(readings) {
			var none T
			return none, errors.New("read too often")
		}
		return readings[i], nil
	}
}

// phases of a whole run.
var phases = []experiment.Phase{
	experiment.PhaseReady, experiment.PhaseRamp, experiment.PhaseWarmup,
	experiment.PhaseMeasure, experiment.PhaseDrain, experiment.PhaseDone,
}

// here is a target on this machine.
var here = experiment.ProbeTarget{Host: experiment.Host{Local: true}}

func observe(t *testing.T, p experiment.Probe, marks ...experiment.Phase) ([]experiment.Observation, error) {
	t.Helper()
	s, err := p.Start(t.Context(), here)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range marks {
		if err := s.Mark(m); err != nil {
			t.Fatalf("mark %s: %v", m, err)
		}
	}
	got, series, err := s.Stop(t.Context())
	if len(series) > 0 {
		t.Errorf("series: got %v, want none", series)
	}
	return got, err
}

var closely = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })

func TestHost(t *testing.T) {
	began := time.Unix(1_000_000, 0)
	warm := cpu.TimesStat{User: 5000, Nice: 10, System: 900, Idle: 90000, Iowait: 40, Irq: 3, Softirq: 7, Steal: 100, Guest: 50}
	end := warm // after 10 s on 4 cores, of which 0.4 s were stolen and 12 s used
	end.User += 8
	end.Guest += 3 // part of user
	end.Nice++
	end.System += 2
	end.Irq += 0.25
	end.Softirq += 0.75
	end.Steal += 0.4
	end.Iowait += 5
	end.Idle += 22.6
	at := func(s float64, c cpu.TimesStat) processorTimes {
		return hostTimes(began.Add(time.Duration(s*float64(time.Second))), c)
	}
	got, err := observe(t, hostProbe(script(at(0, cpu.TimesStat{}), at(30, warm), at(40, end))), phases...)
	if err != nil {
		t.Fatal(err)
	}
	want := []experiment.Observation{
		{Metric: "host.steal", Phase: experiment.PhaseMeasure, Value: 0.01, Unit: experiment.UnitRatio},
		{Metric: "host.busy", Phase: experiment.PhaseMeasure, Value: 1.2, Unit: experiment.UnitCores},
	}
	if diff := cmp.Diff(got, want, closely); diff != "" {
		t.Errorf("observations (-got +want):\n%s", diff)
	}
}

func TestEngine(t *testing.T) {
	began := time.Unix(1_000_000, 0)
	got, err := observe(t, engineProbe(script(
		engineTimes{at: began},
		engineTimes{at: began.Add(10 * time.Second), processes: map[string]float64{"10@1": 100, "11@2": 50, "12@3": 7}},
		engineTimes{at: began.Add(14 * time.Second), processes: map[string]float64{
			"10@1": 101,  // used 1 s
			"12@9": 0.5,  // another process under an old number, used 0.5 s
			"13@8": 0.25, // began in the window
		}},
	)), phases...)
	if err != nil {
		t.Fatal(err)
	}
	want := []experiment.Observation{{Metric: "engine.cpu", Phase: experiment.PhaseMeasure, Value: 1.75 / 4, Unit: experiment.UnitCores}}
	if diff := cmp.Diff(got, want, closely); diff != "" {
		t.Errorf("observations (-got +want):\n%s", diff)
	}
}

// Where the services run on another machine, this one is not even looked at.
func TestHostElsewhere(t *testing.T) {
	host := hostProbe(func() (processorTimes, error) { t.Error("host read"); return processorTimes{}, nil })
	engine := engineProbe(func() (engineTimes, error) { t.Error("engine read"); return engineTimes{}, nil })
	for name, p := range map[string]experiment.Probe{"host": host, "engine": engine} {
		s, err := p.Start(t.Context(), experiment.ProbeTarget{Host: experiment.Host{Name: "elsewhere", Engine: "docker 27.0"}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, m := range phases {
			if err := s.Mark(m); err != nil {
				t.Errorf("%s: mark %s: %v", name, m, err)
			}
		}
		if got, series, err := s.Stop(t.Context()); err != nil || len(got)+len(series) > 0 {
			t.Errorf("%s: got %v, %v, %v, want nothing", name, got, series, err)
		}
	}
}

func TestNoEngineInSight(t *testing.T) {
	began := time.Unix(1_000_000, 0)
	got, err := observe(t, engineProbe(script(engineTimes{}, engineTimes{at: began}, engineTimes{at: began.Add(time.Second)})), phases...)
	if err != nil || len(got) > 0 {
		t.Errorf("got %v, %v, want nothing", got, err)
	}
}

func TestWindowNotSeen(t *testing.T) {
	same := processorTimes{at: time.Unix(1_000_000, 0), total: 5}
	for _, tc := range []struct {
		name  string
		marks []experiment.Phase
	}{
		{"no phase", nil},
		{"no end", phases[:4]},
		{"no begin", phases[4:]},
		{"no time between", phases},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, err := observe(t, hostProbe(script(same, same, same)), tc.marks...); !errors.Is(err, ErrWindow) || len(got) > 0 {
				t.Errorf("got %v, %v, want %v", got, err, ErrWindow)
			}
		})
	}
}

func TestFaultsAreReported(t *testing.T) {
	if _, err := hostProbe(script[processorTimes]()).Start(t.Context(), here); err == nil {
		t.Error("start: no error")
	}
	s, err := engineProbe(script(engineTimes{})).Start(t.Context(), here)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Mark(experiment.PhaseMeasure); err == nil {
		t.Error("mark: no error")
	}
}

func TestReadEngine(t *testing.T) {
	dir := t.TempDir()
	for pid, p := range map[string][2]string{
		"17":   {"dockerd", "17 (dockerd) S 1 17 17 0 -1 4194560 9 8 7 6 250 50 3 4 20 0 30 0 1234 99 9"},
		"18":   {"containerd-shim", "18 (containerd-shim) S 1 18 17 0 -1 4194560 9 8 7 6 5 6 3 4 20 0 30 0 1300 99 9"},
		"19":   {"redis-server", "19 (redis-server) S 1 19 19 0 -1 4194560 9 8 7 6 999 9 3 4 20 0 30 0 1400 99 9"},
		"self": {"dockerd", "never read"},
	} {
		write(t, filepath.Join(dir, pid, "comm"), p[0]+"\n")
		write(t, filepath.Join(dir, pid, "stat"), p[1])
	}
	write(t, filepath.Join(dir, "20", "comm"), "docker-proxy\n") // ends before its stat is read
	got, err := engineProcesses(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, map[string]float64{"17@1234": 3, "18@1300": 0.11}, closely); diff != "" {
		t.Errorf("times (-got +want):\n%s", diff)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestOnThisHost compares the probe with what this process burns itself.
func TestOnThisHost(t *testing.T) {
	s, err := NewHost().Start(t.Context(), here)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Mark(experiment.PhaseMeasure); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(500 * time.Millisecond); time.Now().Before(until); {
		for range 1000 {
			_ = math.Sqrt(2)
		}
	}
	if err := s.Mark(experiment.PhaseDrain); err != nil {
		t.Fatal(err)
	}
	got, _, err := s.Stop(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// This thread alone keeps a core busy, unless the hypervisor takes it.
	if busy, ok := experiment.Observed(got, "host.busy"); !ok || busy < 0.2 {
		t.Errorf("host.busy: got %v, want about the core that this test keeps busy", busy)
	}
	if _, err := readEngine(); err != nil {
		t.Errorf("read engine: %v", err)
	}
}
