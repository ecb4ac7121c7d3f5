package guard_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/analysis/guard"
	"github.com/ceteris/ceteris/experiment"
)

// lateness is a run whose requests were sent late and answered after some time, in s.
func lateness(late, median float64) func(*experiment.Outcome) {
	return change(func(o *experiment.Outcome) {
		observe("lateness_p99", late)(o)
		observe("latency_p50", median)(o)
	})
}

// phased is a load of one idle and one measured phase of 4 s, with some change.
func phased(then ...func(*experiment.Outcome)) func(*experiment.Outcome) {
	return change(func(o *experiment.Outcome) {
		o.Plan.Load.Open = nil
		o.Plan.Load.Phases = []experiment.LoadPhase{
			{Name: "calm", For: 5 * time.Second}, {Name: "spike", Measure: true, Open: &experiment.OpenLoad{Rate: 1000, InFlight: 50}, For: 4 * time.Second},
		}
		o.Result.Parts = []experiment.LoadPart{{Name: "spike", Window: 4 * time.Second}}
		for _, f := range then {
			f(o)
		}
	})
}

// users makes the load a closed one.
func users(n, connections int) func(*experiment.Outcome) {
	return change(func(o *experiment.Outcome) {
		o.Plan.Load.Open, o.Plan.Load.Closed, o.Plan.Load.Connections = nil, &experiment.ClosedLoad{Users: n}, connections
	})
}

// The guards of what the generator and the subject were at the limit of, each with a
// twin just under its threshold.
func TestJudgeLimits(t *testing.T) {
	type changes = []func(*experiment.Outcome)
	throttled := func(share, cpu float64) func(*experiment.Outcome) {
		return change(func(o *experiment.Outcome) { observe("app.throttled", share)(o); observe("app.cpu", cpu)(o) })
	}
	replicas := change(func(o *experiment.Outcome) { o.Plan.Services[1].Replicas = 3 })
	emulated := func(entry string) func(*experiment.Outcome) {
		return change(func(o *experiment.Outcome) {
			o.Plan.Services[1].Image, o.Host.Arch = "app:1", "amd64"
			o.Images = experiment.Images{"image:app:1": entry}
		})
	}
	tests := map[string]struct {
		change changes
		want   []found
	}{
		"generator-late": {
			changes{lateness(0.0042, 0.040)},
			[]found{{"generator-late", warn, "of the requests 1% were sent 4.2ms or more too late, which is 10.5% of the median latency of 40ms (limit 10%, and 1 ms)"}},
		},
		"generator-late just under": {changes{lateness(0.004, 0.040)}, nil},
		"generator-late against fast responses": {
			changes{lateness(0.0011, 0.0002)},
			[]found{{"generator-late", warn, "of the requests 1% were sent 1.1ms or more too late, which is 550% of the median latency of 200µs (limit 10%, and 1 ms)"}},
		},
		"generator-late just under what timers can": {changes{lateness(0.001, 0.0002)}, nil},
		"generator-late without an answer":          {changes{observe("lateness_p99", 1)}, nil},
		"generator-late behind few connections": {
			changes{users(8, 4), lateness(0.2, 0.1)},
			[]found{{"generator-late", note, "of the requests 1% were sent 200ms or more too late, which is 200% of the median latency of 100ms (limit 10%, and 1 ms): they may have waited for a connection (load.connections is 4)"}},
		},
		"generator-late where every user has a connection": {
			changes{users(8, 8), lateness(0.2, 0.1)},
			[]found{{"generator-late", warn, "of the requests 1% were sent 200ms or more too late, which is 200% of the median latency of 100ms (limit 10%, and 1 ms)"}},
		},
		"generator-late of another tool": {
			changes{lateness(0.16, 0.06), change(func(o *experiment.Outcome) { o.Result.Tool, o.Plan.Load = "pgbench", experiment.Load{None: true} })},
			[]found{
				{"generator-late", note, "of the requests 1% were sent 160ms or more too late, which is 267% of the median latency of 60ms (limit 10%, and 1 ms): they may have waited for a free client of pgbench"},
			},
		},
		"generator-late in a phase": {
			changes{phased(observe("spike:lateness_p99", 0.02), observe("spike:latency_p50", 0.1), lateness(0.02, 0.3))},
			[]found{{"generator-late", warn, "of the requests 1% were sent 20ms or more too late, which is 20% of the median latency of 100ms (limit 10%, and 1 ms)"}},
		},

		"window-short": {
			changes{observe("latency_p99", 1.01), observe("latency_max", 4)},
			[]found{{"window-short", warn, "of the responses 1% took 1.01s or more, in a window of 10s (limit 10% of it)"}},
		},
		"window-short by the slowest": {
			changes{observe("latency_p99", 1), observe("latency_max", 5.01)},
			[]found{{"window-short", warn, "the slowest response took 5.01s, in a window of 10s (limit 50% of it)"}},
		},
		"window-short just under":      {changes{observe("latency_p99", 1), observe("latency_max", 5)}, nil},
		"window-short of one request":  {changes{observe("latency_max{a}", 9), observe("latency_p99{a}", 9)}, nil},
		"window-short in a phase":      {changes{phased(observe("spike:latency_max", 0.5), observe("spike:latency_p99", 0.41))}, []found{{"window-short", warn, "of the responses 1% took 410ms or more, in a window of 4s (limit 10% of it)"}}},
		"window-short just in a phase": {changes{phased(observe("spike:latency_max", 2), observe("spike:latency_p99", 0.4))}, nil},

		"in-flight-limit": {
			changes{observe("in_flight", 95.1), observe("requests_done", 10_000)},
			[]found{{"in-flight-limit", warn, "95.1 requests were under way on average (1000/s of 95.1ms each), and the load allows 100 (in_flight): that decides how long they take"}},
		},
		"in-flight-limit just under": {changes{observe("in_flight", 95), observe("requests_done", 10_000)}, nil},
		"in-flight-limit of connections": {
			changes{users(64, 8), observe("in_flight", 64), observe("requests_done", 12_000)},
			[]found{{"in-flight-limit", note, "64 requests were under way on average (1200/s of 53.3ms each) over 8 connections: 56 of them waited for one"}},
		},
		"in-flight-limit just under the connections": {changes{users(64, 8), observe("in_flight", 8)}, nil},
		"in-flight-limit of users, who set it":       {changes{users(64, 64), observe("in_flight", 64)}, nil},
		"in-flight-limit in a phase": {
			changes{phased(observe("spike:in_flight", 49), observe("in_flight", 49))},
			[]found{{"in-flight-limit", warn, "49 requests were under way on average, and the load allows 50 (in_flight): that decides how long they take"}},
		},

		"cpu-cap": {
			changes{throttled(0.011, 0.7)},
			[]found{{"cpu-cap", note, "app was held back by its processor limit for 1.1% of the window (limit 1%)"}},
		},
		"cpu-cap just under": {changes{throttled(0.01, 0.95)}, nil},
		"cpu-cap at the limit": {
			changes{throttled(0.01, 0.951)},
			[]found{{"cpu-cap", note, "app used 0.951 of its limit of 1 core"}},
		},
		"cpu-cap of replicas just under": {changes{replicas, observe("app.cpu", 2.84)}, nil},
		"cpu-cap of replicas": {
			changes{replicas, observe("app.cpu", 2.86)},
			[]found{{"cpu-cap", note, "app used 2.86 of its limit of 3 cores"}},
		},
		"cpu-cap of one without a limit": {changes{observe("redis.cpu", 1)}, nil},

		"emulated-image": {
			changes{emulated("sha256:a linux/arm64")},
			[]found{{"emulated-image", warn, "app runs an image for linux/arm64, and the host is amd64: it is emulated"}},
		},
		"emulated-image of the host's own": {changes{emulated("sha256:a")}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := brief(guard.New().JudgeRun(calm(tt.change...), settings))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("JudgeRun (-want +got):\n%s", diff)
			}
		})
	}
}

// laid is a sweep of cells, with what was observed in each of its two runs.
type laid struct {
	experiment.Sweep
}

func (l *laid) cell(c experiment.Cell, observed ...map[string]float64) {
	l.Cells = append(l.Cells, c)
	for _, values := range observed {
		r := experiment.RunRecord{Run: experiment.Run{Cell: c.Key, State: experiment.StateOK}}
		for metric, v := range values {
			r.Observations = append(r.Observations, experiment.Observation{Metric: metric, Phase: experiment.PhaseMeasure, Value: v})
		}
		l.Runs = append(l.Runs, r)
	}
}

func baseline(key experiment.CellKey, settings ...experiment.Setting) experiment.Cell {
	return experiment.Cell{Key: key, Stage: "main", Role: experiment.RoleBaseline, Settings: settings}
}

func set(factor, level string) experiment.Setting {
	return experiment.Setting{Factor: factor, Level: level}
}

func TestJudgeCells(t *testing.T) {
	load := func(in, throughput float64) map[string]float64 {
		return map[string]float64{"in_flight": in, "throughput": throughput}
	}
	atUsers := func(levels map[string][2]float64) func(*laid) {
		return func(l *laid) {
			l.Across = []string{"users"}
			for _, level := range []string{"8", "16", "32"} {
				if v, ok := levels[level]; ok {
					l.cell(baseline(experiment.CellKey("b"+level), set("users", level)), load(v[0], v[1]*0.99), load(v[0], v[1]*1.01))
				}
			}
		}
	}
	ladder := func(throughputs ...float64) func(*laid) {
		return func(l *laid) {
			l.Across = []string{"rate"}
			whole := experiment.Ladder{Cell: baseline("whole")}
			for i, v := range throughputs {
				key := experiment.CellKey([]string{"r1", "r2", "r3"}[i])
				whole.Rungs = append(whole.Rungs, key)
				l.cell(baseline(key, set("rate", string(key))), map[string]float64{"offered": 100 * float64(i+1), "throughput": v, "in_flight": 10})
			}
			l.Ladders = []experiment.Ladder{whole}
		}
	}
	sized := func(base, cell []float64) func(*laid) {
		return func(l *laid) {
			of := func(all []float64) (out []map[string]float64) {
				for _, v := range all {
					out = append(out, map[string]float64{"response_bytes": v})
				}
				return out
			}
			l.cell(baseline("b"), of(base)...)
			l.cell(experiment.Cell{Key: "t", Stage: "main", Role: experiment.RoleVaried, Factor: "gzip", Level: "on"}, of(cell)...)
		}
	}
	tests := map[string]struct {
		lay  func(*laid)
		want []found
	}{
		"flat-load": {
			atUsers(map[string][2]float64{"8": {8, 1000}, "16": {16, 1090}}),
			[]found{{"flat-load", warn, "from 8 to 16 users throughput went from 1000/s to 1090/s: more brings no more"}},
		},
		"flat-load just above": {atUsers(map[string][2]float64{"8": {8, 1000}, "16": {16, 1110}}), nil},
		"flat-load at the second step, with think time": {
			atUsers(map[string][2]float64{"8": {1, 1000}, "16": {4, 1700}, "32": {20, 1700}}),
			[]found{{"flat-load", warn, "from 16 to 32 users throughput went from 1700/s to 1700/s: more brings no more"}},
		},
		"flat-load: a number, and none of users": {atUsers(map[string][2]float64{"8": {8, 1000}, "16": {8, 900}}), nil},
		"flat-load: not measured": {func(l *laid) {
			l.Across = []string{"users"}
			l.cell(baseline("b8", set("users", "8")), map[string]float64{"throughput": 10})
			l.cell(baseline("b16", set("users", "16")), map[string]float64{"throughput": 10})
		}, nil},
		"flat-load of a ladder": {
			ladder(100, 150, 154),
			[]found{{"flat-load", note, "from 200 to 300 requests/s offered throughput went from 150/s to 154/s: more brings no more"}},
		},
		"flat-load just above on a ladder": {ladder(100, 150, 158), nil},

		"in-flight-limit of threads": {
			func(l *laid) {
				l.cell(baseline("b", set("threads", "8"), set("cache", "2")), load(64, 1), load(62, 1))
			},
			[]found{{"in-flight-limit", note, "63 requests were under way on average with threads=8: at least 55 of them waited"}},
		},
		"in-flight-limit of the smaller": {
			func(l *laid) { l.cell(baseline("b", set("threads", "8"), set("pool_size", "2")), load(64, 1)) },
			[]found{{"in-flight-limit", note, "64 requests were under way on average with pool_size=2: at least 62 of them waited"}},
		},
		"in-flight-limit of threads just under": {func(l *laid) { l.cell(baseline("b", set("threads", "8")), load(8, 1)) }, nil},
		"in-flight-limit of no number":          {func(l *laid) { l.cell(baseline("b", set("threads", "auto")), load(64, 1)) }, nil},

		"work-differs": {
			sized([]float64{1000, 1000}, []float64{1010, 1012}),
			[]found{{"work-differs", note, "a response of gzip=on has 1011 bytes, one of baseline 1000: 1.1% off (limit 1%)"}},
		},
		"work-differs just under":          {sized([]float64{1000, 1000}, []float64{1008, 1010}), nil},
		"work-differs by chance":           {sized([]float64{1000, 1100}, []float64{1090, 1200}), nil},
		"work-differs: the baseline's not": {sized(nil, []float64{1010}), nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var l laid
			tt.lay(&l)
			if diff := cmp.Diff(tt.want, brief(guard.New().JudgeSweep(l.Sweep, experiment.Results{}, settings))); diff != "" {
				t.Errorf("JudgeSweep (-want +got):\n%s", diff)
			}
		})
	}
}

// The threshold of a guard of sweeps is moved like any other.
func TestSettingsMoveGuardsOfSweeps(t *testing.T) {
	var l laid
	l.cell(baseline("b"), map[string]float64{"response_bytes": 1000})
	l.cell(experiment.Cell{Key: "t", Stage: "main", Role: experiment.RoleVaried, Factor: "gzip", Level: "on"}, map[string]float64{"response_bytes": 800})
	for above, want := range map[float64]int{0.19: 1, 0.21: 0} {
		set := experiment.Settings{Guards: map[string]experiment.GuardSetting{"work-differs": {Above: &above}}}
		got := guard.New().JudgeSweep(l.Sweep, experiment.Results{}, set)
		if len(got) != want || want == 1 && *got[0].Threshold != above {
			t.Errorf("above %v: got %v, want %d findings", above, got, want)
		}
	}
}
