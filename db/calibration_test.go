package db

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func testCalibration(sweep int64, host experiment.Host, metric string, when time.Time) experiment.Calibration {
	return experiment.Calibration{
		Sweep: sweep, Host: host.ID(), Name: "identical", Metric: metric, Scale: experiment.ScaleRatio, When: when, Copies: 8, Rounds: 20, Block: 5, Comparisons: 16, Alarms: 1, Limit: 3,
		Families: 4, FamilyAlarms: 1, SD: 0.02, Shows: []experiment.Shows{{Rounds: 3, Effect: 0.06}, {Rounds: 5, Effect: 0.03}},
	}
}

// measured makes a sweep of its own, on a host.
func measured(t *testing.T, d *DB, host experiment.Host) (int64, []experiment.Cell) {
	t.Helper()
	spec := testSpec()
	spec.Host, spec.New = host, true
	head, err := d.BeginSweep(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return head.ID, spec.Cells
}

func TestCalibrations(t *testing.T) {
	d := openAt(t, testPath(t))
	here := testSpec().Host
	there := here
	there.Name = "there"
	for _, host := range []experiment.Host{here, here, there} { // sweeps 1 to 3
		measured(t, d, host)
	}
	later := testTime().Add(time.Hour)
	for _, c := range []experiment.Calibration{
		testCalibration(1, here, "throughput", testTime()),
		testCalibration(1, here, "latency_p99", later.Add(time.Hour)),
		testCalibration(2, here, "throughput", testTime()), // replaced by the next
		testCalibration(2, here, "throughput", later),
		testCalibration(3, there, "throughput", later.Add(time.Minute)),
	} {
		if err := d.StoreCalibration(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	rebooted := here
	rebooted.Boot, rebooted.Kernel, rebooted.Engine = "another", "another", "another"
	other := here
	other.Cores = experiment.CoreSet{0}
	measured(t, d, rebooted) // sweep 4
	measured(t, d, other)    // sweep 5
	for sweep, want := range map[int64]experiment.Calibration{
		1: testCalibration(2, here, "throughput", later), 2: testCalibration(1, here, "throughput", testTime()),
		3: {}, 4: testCalibration(2, here, "throughput", later), 5: {},
	} {
		s, err := d.LoadSweep(t.Context(), sweep)
		if err != nil {
			t.Fatal(err)
		}
		var got experiment.Calibration
		if s.Calibration != nil {
			got = *s.Calibration
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("sweep %d: %s", sweep, diff)
		}
	}
	for q, want := range map[string][]string{
		`SELECT concat_ws('|', sweep, metric, host_name, alarms, alarm_limit, trusted, sd) FROM calibrations`: {
			"1|latency_p99|here|1|3|1|0.02", "3|throughput|there|1|3|1|0.02", "2|throughput|here|1|3|1|0.02", "1|throughput|here|1|3|1|0.02",
		},
		`SELECT concat_ws('|', rounds, effect, sweep) FROM host_calibrations WHERE host = '` + here.ID() + `' AND metric = 'throughput'`: {"3|0.06|2", "5|0.03|2"},
	} {
		if diff := cmp.Diff(want, texts(t, d, q)); diff != "" {
			t.Errorf("%s: %s", q, diff)
		}
	}
	for name, bad := range map[string]func(*experiment.Calibration){
		"a sweep that is not there":              func(c *experiment.Calibration) { c.Sweep = 99 },
		"more alarms than there are comparisons": func(c *experiment.Calibration) { c.Alarms = 17 },
		"a negative deviation":                   func(c *experiment.Calibration) { c.SD = -1 },
	} {
		c := testCalibration(1, here, "throughput", later)
		bad(&c)
		if err := d.StoreCalibration(t.Context(), c); err == nil {
			t.Errorf("%s is stored", name)
		}
	}
}

// TestControlsOfOtherSweeps: they count where they were tested, on the same host, in
// the primary metric.
func TestControlsOfOtherSweeps(t *testing.T) {
	d := openAt(t, testPath(t))
	here := testSpec().Host
	there := here
	there.Memory++
	store := func(host experiment.Host, p *float64) {
		t.Helper()
		id, cells := measured(t, d, host)
		r := testResults(cells, 3)
		second := r.Comparisons[0]
		second.Metric, second.Secondary, second.P = "latency_p99", true, new(0.01)
		r.Comparisons[0].P = p
		switch {
		case p == nil:
			r.Comparisons[0].State = "interim: 2 of 3"
		case *p == 1: // all values are one number, which is no test
			r.Comparisons[0].Low, r.Comparisons[0].High = nil, nil
		}
		r.Comparisons = append(r.Comparisons, second)
		if err := d.ReplaceResults(t.Context(), id, r); err != nil {
			t.Fatal(err)
		}
	}
	store(here, new(0.04))
	store(here, new(0.05))
	store(here, nil)
	store(there, new(0.001))
	store(experiment.Host{}, new(0.01))
	store(here, new(1.0))
	const imported = 7
	mustImport(t, d, given{"control", 1, "a"})
	s, err := d.LoadSweep(t.Context(), imported)
	if err != nil {
		t.Fatal(err)
	}
	row := experiment.Comparison{Cell: s.Cells[1].Key, Metric: "throughput", Scale: experiment.ScaleRatio, Confidence: 0.95, P: new(0.01), N: 3, Verdict: experiment.VerdictWorse, State: "final"}
	if err := d.ReplaceResults(t.Context(), imported, experiment.Results{Comparisons: []experiment.Comparison{row}}); err != nil {
		t.Fatal(err)
	}
	for sweep, want := range map[int64]experiment.AAHistory{
		1: {Comparisons: 1}, 2: {Comparisons: 1, Alarms: 1}, 3: {Comparisons: 2, Alarms: 1}, 4: {}, 5: {}, 6: {Comparisons: 2, Alarms: 1}, imported: {},
	} {
		s, err := d.LoadSweep(t.Context(), sweep)
		if err != nil {
			t.Fatal(err)
		}
		if s.AA != want {
			t.Errorf("sweep %d: %+v, want %+v", sweep, s.AA, want)
		}
	}
}
