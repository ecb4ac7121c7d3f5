package guard_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/analysis/guard"
	"github.com/ceteris/ceteris/experiment"
)

// calm is a run on four cores that no guard objects to: open load of 1000/s over
// 10 s, generator on one core of its own.
func calm(change ...func(*experiment.Outcome)) experiment.Outcome {
	o := experiment.Outcome{
		Run: experiment.Run{ID: 7, Cell: "main|baseline|", State: experiment.StateOK},
		Plan: experiment.CellPlan{
			Services: []experiment.Service{
				{Name: "redis", Role: experiment.RoleBacking},
				{Name: "app", Role: experiment.RoleSubject, Limits: experiment.Limits{CPUs: 1, Memory: 1 << 29}},
			},
			Load: experiment.Load{Open: &experiment.OpenLoad{Rate: 1000, InFlight: 100}, Measure: 10 * time.Second},
		},
		Generator: experiment.Service{Name: experiment.GeneratorName, Role: experiment.RoleLoad, Cores: experiment.CoreSet{3}},
		Placement: experiment.Placement{Subject: experiment.CoreSet{0, 1}, Backing: experiment.CoreSet{2}, Load: experiment.CoreSet{3}},
		Host: experiment.Host{
			Cores:    experiment.CoreSet{0, 1, 2, 3},
			Enforces: experiment.Enforces{Cores: true, CPUs: true, Memory: true, PIDs: true},
		},
		Result: experiment.LoadResult{Window: 10 * time.Second},
	}
	usual := []func(*experiment.Outcome){
		observe("throughput", 990), observe("offered", 1000), observe("sent", 1000),
		observe("dropped", 0), observe("error_rate", 0), observe("generator.cpu", 0.4),
	}
	for _, c := range append(usual, change...) {
		c(&o)
	}
	return o
}

// observe sets a value of the measured window.
func observe(metric string, v float64) func(*experiment.Outcome) {
	return observeIn(experiment.PhaseMeasure, metric, v)
}

func observeIn(phase experiment.Phase, metric string, v float64) func(*experiment.Outcome) {
	return func(o *experiment.Outcome) {
		for i, x := range o.Observations {
			if x.Metric == metric && x.Phase == phase {
				o.Observations[i].Value = v
				return
			}
		}
		o.Observations = append(o.Observations, experiment.Observation{Metric: metric, Phase: phase, Value: v})
	}
}

func unobserve(metric string) func(*experiment.Outcome) {
	return func(o *experiment.Outcome) {
		var kept []experiment.Observation
		for _, x := range o.Observations {
			if x.Metric != metric {
				kept = append(kept, x)
			}
		}
		o.Observations = kept
	}
}

// connections sets how many there may be, and how many requests were in flight in
// successive slices; those before and after the window count for nothing.
func connections(n int, inFlight ...float64) func(*experiment.Outcome) {
	return func(o *experiment.Outcome) {
		o.Plan.Load.Connections = n
		o.Series = []experiment.SeriesPoint{{Metric: "in_flight", AtMS: -100, Value: 1}}
		for i, v := range inFlight {
			o.Series = append(o.Series, experiment.SeriesPoint{Metric: "in_flight", AtMS: int64(100 * i), Value: v})
		}
		o.Series = append(o.Series,
			experiment.SeriesPoint{Metric: "in_flight", AtMS: 10_000, Value: 2},
			experiment.SeriesPoint{Metric: "in_flight", Service: "app", AtMS: 9_900, Value: 3})
	}
}

func change(f func(*experiment.Outcome)) func(*experiment.Outcome) { return f }

var settings = experiment.Settings{Metric: "throughput", ErrorRate: 0.01}

type found struct {
	Code     string
	Severity experiment.Severity
	Message  string
}

func brief(fs []experiment.Finding) []found {
	var out []found
	for _, f := range fs {
		out = append(out, found{f.Code, f.Severity, f.Message})
	}
	return out
}

const (
	note    = experiment.SeverityNote
	warn    = experiment.SeverityWarn
	invalid = experiment.SeverityInvalid
)

// Every guard is provoked, and has a twin just under its threshold.
// polls is a poll a second of a page of the app; 1 where it failed.
func polls(page string, failed ...float64) func(*experiment.Outcome) {
	return func(o *experiment.Outcome) {
		for i, v := range failed {
			o.Series = append(o.Series, experiment.SeriesPoint{Service: "app", Metric: experiment.ScrapeFailed(page), AtMS: int64(i) * 1000, Value: v})
		}
	}
}

func TestJudgeRun(t *testing.T) {
	exit := func(name string, e experiment.Exit) func(*experiment.Outcome) {
		return func(o *experiment.Outcome) { o.Exits = map[string]experiment.Exit{name: e} }
	}
	// a subject that takes all requests and answers none
	hangs := slices.Clip([]func(*experiment.Outcome){unobserve("error_rate"), observe("throughput", 0)})
	tests := map[string]struct {
		change []func(*experiment.Outcome)
		want   []found
	}{
		"calm": {},

		"generator-cpu above": {
			[]func(*experiment.Outcome){observe("generator.cpu", 0.93)},
			[]found{{"generator-cpu", invalid, "generator used 0.93 of its 1 core (limit 80%)"}},
		},
		"host-suspended": {
			[]func(*experiment.Outcome){change(func(o *experiment.Outcome) { o.Clocks.Apart = 1001 * time.Millisecond })},
			[]found{{"host-suspended", invalid, "the wall clock moved by 1.001s against the monotonic clock (limit 1s)"}},
		},
		"host-suspended: the clock was set back": {
			[]func(*experiment.Outcome){change(func(o *experiment.Outcome) { o.Clocks.Apart = -2 * time.Hour })},
			[]found{{"host-suspended", invalid, "the wall clock moved by -2h0m0s against the monotonic clock (limit 1s)"}},
		},
		"host-suspended at the limit": {[]func(*experiment.Outcome){change(func(o *experiment.Outcome) { o.Clocks.Apart = -time.Second })}, nil},
		"conductor-paused": {
			[]func(*experiment.Outcome){change(func(o *experiment.Outcome) { o.Clocks.Late = 5 * time.Second })},
			[]found{{"conductor-paused", invalid, "a tick of the conductor came 5s late in the measured window (limit 1s)"}},
		},
		"conductor-paused at the limit": {[]func(*experiment.Outcome){change(func(o *experiment.Outcome) { o.Clocks.Late = time.Second })}, nil},

		"generator-cpu at the limit": {[]func(*experiment.Outcome){observe("generator.cpu", 0.80)}, nil},
		"generator-cpu of two cores": {
			[]func(*experiment.Outcome){
				observe("generator.cpu", 1.61),
				change(func(o *experiment.Outcome) { o.Generator.Cores = experiment.CoreSet{2, 3}; o.Placement.Backing = nil }),
			},
			[]found{{"generator-cpu", invalid, "generator used 1.61 of its 2 cores (limit 80%)"}},
		},
		"generator-cpu under two cores": {[]func(*experiment.Outcome){
			observe("generator.cpu", 1.59),
			change(func(o *experiment.Outcome) { o.Generator.Cores = experiment.CoreSet{2, 3}; o.Placement.Backing = nil }),
		}, nil},
		"generator-cpu under a limit of its own": {
			[]func(*experiment.Outcome){
				observe("generator.cpu", 0.41),
				change(func(o *experiment.Outcome) { o.Generator.Limits.CPUs = 0.5 }),
			},
			[]found{{"generator-cpu", invalid, "generator used 0.41 of its limit of 0.5 cores (limit 80%)"}},
		},
		"generator-cpu not measured": {
			[]func(*experiment.Outcome){unobserve("generator.cpu")},
			[]found{{"generator-cpu", warn, "the generator's processor time was not measured, so it cannot be ruled out as the limit"}},
		},
		"generator-cpu not measured, no load": {[]func(*experiment.Outcome){
			unobserve("generator.cpu"), unobserve("throughput"),
			change(func(o *experiment.Outcome) { o.Run.State = experiment.StateFailedSubject }),
		}, nil},

		"shared-cores generator with subject": {
			[]func(*experiment.Outcome){
				change(func(o *experiment.Outcome) { o.Placement.Subject = experiment.CoreSet{0, 1, 3} }),
			},
			[]found{{"shared-cores", invalid, "generator on core 3 and subject on core 0-1,3 share processors"}},
		},
		"shared-cores on one core": {[]func(*experiment.Outcome){change(func(o *experiment.Outcome) {
			o.Host.Cores, o.Placement.Subject, o.Placement.Backing = experiment.CoreSet{3}, experiment.CoreSet{3}, nil
		})}, []found{{"shared-cores", warn, "generator on core 3 and subject on core 3 share processors"}}},
		"shared-cores generator with backing": {
			[]func(*experiment.Outcome){
				change(func(o *experiment.Outcome) { o.Placement.Backing = experiment.CoreSet{2, 3} }),
			},
			[]found{{"shared-cores", warn, "generator on core 3 and backing services on core 2-3 share processors"}},
		},
		"shared-cores backing with subject": {
			[]func(*experiment.Outcome){
				change(func(o *experiment.Outcome) { o.Placement.Backing = experiment.CoreSet{1} }),
			},
			[]found{{"shared-cores", note, "backing services on core 1 and subject on core 0-1 share processors"}},
		},
		"shared-cores without backing services": {[]func(*experiment.Outcome){change(func(o *experiment.Outcome) {
			o.Placement.Backing, o.Plan.Services = experiment.CoreSet{0, 1}, o.Plan.Services[1:]
		})}, nil},

		"shared-cores where core sets are not in force": {
			[]func(*experiment.Outcome){change(func(o *experiment.Outcome) {
				o.Host.Enforces.Cores, o.Generator.Cores = false, nil
			})},
			[]found{
				{"shared-cores", invalid, "generator on core 0-3 and subject on core 0-3 share processors"},
				{"shared-cores", warn, "generator on core 0-3 and backing services on core 0-3 share processors"},
				{"shared-cores", note, "backing services on core 0-3 and subject on core 0-3 share processors"},
			},
		},
		"shared-cores where core sets are not in force on one core": {
			[]func(*experiment.Outcome){change(func(o *experiment.Outcome) {
				o.Host.Enforces.Cores, o.Host.Cores, o.Generator.Cores = false, experiment.CoreSet{0}, nil
				o.Plan.Services = o.Plan.Services[1:]
			})},
			[]found{{"shared-cores", warn, "generator on core 0 and subject on core 0 share processors"}},
		},
		"shared-cores where core sets are in force": {[]func(*experiment.Outcome){change(func(o *experiment.Outcome) {
			o.Generator.Cores = nil // the placement's
		})}, nil},

		"errors after the window": {
			[]func(*experiment.Outcome){change(func(o *experiment.Outcome) {
				o.Result.Histograms = []experiment.Histogram{
					{Phase: experiment.PhaseMeasure, Kind: experiment.HistogramSuccess, Count: 979},
					{Phase: experiment.PhaseMeasure, Kind: experiment.HistogramFailure, Count: 21},
					{Phase: experiment.PhaseMeasure, Kind: experiment.HistogramFailure, Count: 21, Request: "search"},
				}
			})},
			[]found{{"errors", warn, "2.1% of the requests that were due in the window failed, most after its end (limit 1%): error_rate and throughput do not show them"}},
		},
		"errors after the window, just under": {
			[]func(*experiment.Outcome){change(func(o *experiment.Outcome) {
				o.Result.Histograms = []experiment.Histogram{
					{Phase: experiment.PhaseMeasure, Kind: experiment.HistogramSuccess, Count: 990},
					{Phase: experiment.PhaseMeasure, Kind: experiment.HistogramFailure, Count: 10},
				}
			})}, nil,
		},
		"rate-missed above": {
			[]func(*experiment.Outcome){observe("sent", 969)},
			[]found{{"rate-missed", invalid, "generator sent 969 of 1000 requests/s over 10s, 3.1% too few (limit 3%)"}},
		},
		"rate-missed just under":          {[]func(*experiment.Outcome){observe("sent", 971)}, nil},
		"rate-missed by what was dropped": {[]func(*experiment.Outcome){observe("sent", 985), observe("dropped", 0.015)}, nil},
		"rate-missed by one request at the edge": {[]func(*experiment.Outcome){observe("sent", 1), change(func(o *experiment.Outcome) {
			o.Plan.Load.Open.Rate, o.Result.Window = 2, time.Second
		})}, nil},
		"rate-missed by two requests": {[]func(*experiment.Outcome){observe("sent", 1), change(func(o *experiment.Outcome) {
			o.Plan.Load.Open.Rate, o.Result.Window = 3, time.Second
		})}, []found{{"rate-missed", invalid, "generator sent 1 of 3 requests/s over 1s, 66.7% too few (limit 3%)"}}},
		"rate-missed by waiting until drain ended": {
			[]func(*experiment.Outcome){observe("sent", 900), change(func(o *experiment.Outcome) {
				o.Plan.Load.Connections, o.Result.Total.Waiting = 20, 1
			})},
			[]found{{"rate-missed", warn, "900 of 1000 requests/s were sent over 10s, 10% too few (limit 3%): others waited for a connection (load.connections is 20)"}},
		},
		"rate-missed by waiting at the window's end": {
			[]func(*experiment.Outcome){observe("sent", 900), observe("in_flight", 5), connections(20, 19, 21)},
			[]found{{"rate-missed", warn, "900 of 1000 requests/s were sent over 10s, 10% too few (limit 3%): others waited for a connection (load.connections is 20)"}},
		},
		"rate-missed by waiting on the whole": {
			[]func(*experiment.Outcome){observe("sent", 900), observe("in_flight", 20.5), connections(1)},
			[]found{{"rate-missed", warn, "900 of 1000 requests/s were sent over 10s, 10% too few (limit 3%): others waited for a connection (load.connections is 1)"}, {"in-flight-limit", note, "20.5 requests were under way on average over 1 connection: 19.5 of them waited for one"}},
		},
		"rate-missed with connections free at the window's end": {
			[]func(*experiment.Outcome){observe("sent", 900), observe("in_flight", 50), connections(20, 90, 20)},
			[]found{{"rate-missed", invalid, "generator sent 900 of 1000 requests/s over 10s, 10% too few (limit 3%)"}, {"in-flight-limit", note, "50 requests were under way on average over 20 connections: 30 of them waited for one"}},
		},
		"rate-missed with as many connections as requests": {
			[]func(*experiment.Outcome){observe("sent", 900), observe("in_flight", 100), connections(100, 101, 101)},
			[]found{{"rate-missed", invalid, "generator sent 900 of 1000 requests/s over 10s, 10% too few (limit 3%)"}, {"in-flight-limit", warn, "100 requests were under way on average, and the load allows 100 (in_flight): that decides how long they take"}},
		},
		"rate-missed by waiting for a place": {
			[]func(*experiment.Outcome){observe("sent", 900), observe("in_flight", 100), change(func(o *experiment.Outcome) { o.Plan.Load.Open.Queue = true })},
			[]found{{"rate-missed", warn, "900 of 1000 requests/s were sent over 10s, 10% too few (limit 3%): others waited for a place (in_flight is 100)"}, {"in-flight-limit", warn, "100 requests were under way on average, and the load allows 100 (in_flight): that decides how long they take"}},
		},
		"rate-missed with places free": {
			[]func(*experiment.Outcome){observe("sent", 900), observe("in_flight", 99), change(func(o *experiment.Outcome) { o.Plan.Load.Open.Queue = true })},
			[]found{{"rate-missed", invalid, "generator sent 900 of 1000 requests/s over 10s, 10% too few (limit 3%)"}, {"in-flight-limit", warn, "99 requests were under way on average, and the load allows 100 (in_flight): that decides how long they take"}},
		},
		"rate-missed by chance arrivals is none": {
			[]func(*experiment.Outcome){observe("offered", 900), observe("sent", 900), change(func(o *experiment.Outcome) { o.Plan.Load.Open.Poisson = true })}, nil,
		},
		"rate-missed beside streams": {
			[]func(*experiment.Outcome){observe("offered", 1500), observe("sent", 1200), change(func(o *experiment.Outcome) {
				o.Plan.Load.Streams = []experiment.Stream{{Open: experiment.OpenLoad{Rate: 500, InFlight: 100}}}
			})},
			[]found{{"rate-missed", invalid, "generator sent 1200 of 1500 requests/s over 10s, 20% too few (limit 3%)"}},
		},
		"rate-missed in phases": {
			[]func(*experiment.Outcome){observe("offered", 500), observe("sent", 480), change(func(o *experiment.Outcome) {
				o.Plan.Load = experiment.Load{Phases: []experiment.LoadPhase{{Name: "spike", Open: &experiment.OpenLoad{Rate: 900, InFlight: 9}, Measure: true}}}
			})},
			[]found{{"rate-missed", invalid, "generator sent 480 of 500 requests/s over 10s, 4% too few (limit 3%)"}},
		},

		"not-warm": {
			[]func(*experiment.Outcome){observeIn(experiment.PhaseWarmup, "warmup_steady", 0), change(func(o *experiment.Outcome) { o.Plan.Load.Steady = time.Minute })},
			[]found{{"not-warm", warn, "the rate was not steady within a warm-up of 1m0s"}},
		},
		"not-warm and steady": {[]func(*experiment.Outcome){observeIn(experiment.PhaseWarmup, "warmup_steady", 1)}, nil},
		"work-missing": {
			[]func(*experiment.Outcome){observeIn(experiment.PhaseDrain, "work_missing", 1), change(func(o *experiment.Outcome) { o.Plan.Load.Work = 500 })},
			[]found{{"work-missing", warn, "1 of 500 requests were not done within 10s"}},
		},
		"work-missing and done": {[]func(*experiment.Outcome){observeIn(experiment.PhaseDrain, "work_missing", 0)}, nil},

		"rate-missed is no matter of a closed load": {[]func(*experiment.Outcome){observe("sent", 10), change(func(o *experiment.Outcome) {
			o.Plan.Load.Open, o.Plan.Load.Closed = nil, &experiment.ClosedLoad{Users: 4}
		})}, nil},

		"dropped above":      {[]func(*experiment.Outcome){observe("dropped", 0.021), observe("sent", 979)}, []found{{"dropped", warn, "2.1% of the arrivals were dropped at the in-flight limit (limit 2%)"}}},
		"dropped just under": {[]func(*experiment.Outcome){observe("dropped", 0.02), observe("sent", 980)}, nil},

		"errors above": {[]func(*experiment.Outcome){observe("error_rate", 0.0101), change(func(o *experiment.Outcome) {
			o.Result.Errors = map[string]int64{"timeout": 3, "status": 90, "reset": 8}
		})}, []found{{"errors", warn, "1.01% of the requests failed (limit 1%), most by status"}}},
		"errors just under": {[]func(*experiment.Outcome){observe("error_rate", 0.01)}, nil},
		"errors where nothing was done": {
			append(hangs, observe("in_flight", 5), observe("requests_done", 0)),
			[]found{{"errors", warn, "no request was done in the window of 10 s while 5 were under way"}},
		},
		"errors where nothing is known to be done": {
			append(hangs, change(func(o *experiment.Outcome) { o.Result.Window = 0 })),
			[]found{{"errors", warn, "no request was done in the window of 10 s while 1000 a second were to be sent"}},
		},
		"errors where one was done":    {append(hangs, observe("in_flight", 5), observe("requests_done", 1)), nil},
		"errors where some are good":   {append(hangs, observe("in_flight", 5), observe("throughput", 0.1)), nil},
		"errors where nothing was due": {append(hangs, observe("offered", 0)), nil},
		"errors where no load was": {append(hangs, unobserve("offered"), unobserve("throughput"), change(func(o *experiment.Outcome) {
			o.Run.State = experiment.StateFailedSubject
		})), nil},

		"restarted by exit": {
			[]func(*experiment.Outcome){exit("app", experiment.Exit{Code: 1})},
			[]found{{"restarted", invalid, "app ended during the run with exit code 1"}},
		},
		"restarted by counter": {
			[]func(*experiment.Outcome){observe("app.restarts", 2)},
			[]found{{"restarted", invalid, "app was started again during the run (restarts: 2)"}},
		},
		"restarted never":                {[]func(*experiment.Outcome){observe("app.restarts", 0)}, nil},
		"restarted: the generator ended": {[]func(*experiment.Outcome){exit("generator", experiment.Exit{})}, nil},
		"oom by exit": {
			[]func(*experiment.Outcome){exit("app", experiment.Exit{Code: 137, OOMKilled: true}), observe("app.oom_kills", 1)},
			[]found{{"oom", invalid, "app was killed for lack of memory (exit code 137)"}},
		},
		"oom before the window": {
			[]func(*experiment.Outcome){observeIn(experiment.PhaseWarmup, "app.oom_kills", 1), observe("app.oom_kills", 3)},
			[]found{{"oom", invalid, "processes inside app were killed for lack of memory (kills: 3)"}},
		},
		"oom never": {[]func(*experiment.Outcome){observe("app.oom_kills", 0)}, nil},
		"oom in a run that failed": {
			[]func(*experiment.Outcome){
				exit("app", experiment.Exit{Code: 137, OOMKilled: true}),
				change(func(o *experiment.Outcome) { o.Run.State = experiment.StateFailedSubject }),
			},
			[]found{{"oom", warn, "app was killed for lack of memory (exit code 137)"}},
		},

		"setting-ineffective": {[]func(*experiment.Outcome){change(func(o *experiment.Outcome) {
			o.Confirmations = []experiment.Confirmation{{Service: "app", Name: "threads", Want: "128", Got: "32"}}
		})}, []found{{"setting-ineffective", invalid, `app reports threads="32", the cell says "128"`}}},
		"setting-ineffective not": {[]func(*experiment.Outcome){change(func(o *experiment.Outcome) {
			o.Confirmations = []experiment.Confirmation{{Service: "app", Name: "threads", Want: "128", Got: "128", OK: true}}
		})}, nil},

		"result-incomplete by its reason": {[]func(*experiment.Outcome){change(func(o *experiment.Outcome) {
			o.Run.State, o.Run.Reason = experiment.StateInvalid, "result-incomplete"
		})}, []found{{"result-incomplete", invalid, "the generator's report is incomplete"}}},
		"result-incomplete by absence": {
			[]func(*experiment.Outcome){unobserve("throughput")},
			[]found{{"result-incomplete", invalid, "the run ended well but has no throughput"}},
		},
		"result-incomplete by value": {
			[]func(*experiment.Outcome){observe("dropped", math.NaN())},
			[]found{{"result-incomplete", invalid, "the value of dropped is no finite number"}},
		},
		"result-incomplete not, with zero": {[]func(*experiment.Outcome){observe("throughput", 0)}, nil},

		"limit-not-applied": {[]func(*experiment.Outcome){change(func(o *experiment.Outcome) {
			o.Host.Enforces = experiment.Enforces{Cores: true, PIDs: true}
		})}, []found{{"limit-not-applied", note, "not in force here for app: limits.cpus, limits.memory"}}},
		"limit-not-applied to the core sets": {
			[]func(*experiment.Outcome){change(func(o *experiment.Outcome) {
				o.Host.Enforces.Cores, o.Host.Cores, o.Plan.Services = false, experiment.CoreSet{0}, o.Plan.Services[1:]
			})},
			[]found{
				{"shared-cores", warn, "generator on core 0 and subject on core 0 share processors"},
				{"limit-not-applied", note, "not in force here for generator: core set"},
			},
		},
		"limit-not-applied where none is declared": {[]func(*experiment.Outcome){change(func(o *experiment.Outcome) {
			o.Host.Enforces.PIDs = false
		})}, nil},

		"host-noise above": {
			[]func(*experiment.Outcome){observe("host.steal", 0.051)},
			[]found{{"host-noise", warn, "the hypervisor took 5.1% of the host's processor time (limit 5%)"}},
		},
		"host-noise just under": {[]func(*experiment.Outcome){observe("host.steal", 0.05)}, nil},
		"host-noise by others above": {
			[]func(*experiment.Outcome){observe("host.other", 1.01)},
			[]found{{"host-noise", warn, "other processes used 1.01 of the host's 4 cores (limit 25%)"}},
		},
		"host-noise by others just under": {[]func(*experiment.Outcome){observe("host.other", 1)}, nil},
		"engine-busy above": {
			[]func(*experiment.Outcome){observe("engine.cpu", 0.21)},
			[]found{{"engine-busy", note, "the engine used 0.21 of the host's 4 cores (limit 5%)"}},
		},
		"scrape-gap": {
			[]func(*experiment.Outcome){polls(":9090/metrics", 0, 0, 1, 1, 0, 0)},
			[]found{{"scrape-gap", warn, "2 of 6 polls of :9090/metrics at app failed, the longest gap lasted 3s: a gap is evidence that it could not answer, not that it was idle"}},
		},
		"scrape-gap to the end": {
			[]func(*experiment.Outcome){polls(":1/a", 0, 1, 0), polls(":1/b", 0, 0, 1, 1)},
			[]found{
				{"scrape-gap", warn, "1 of 3 polls of :1/a at app failed, the longest gap lasted 2s: a gap is evidence that it could not answer, not that it was idle"},
				{"scrape-gap", warn, "2 of 4 polls of :1/b at app failed, the longest gap lasted 2s: a gap is evidence that it could not answer, not that it was idle"},
			},
		},
		"scrape-gap where every poll was answered": {[]func(*experiment.Outcome){polls(":1/a", 0, 0, 0)}, nil},
		"result-incomplete: without load there is no throughput": {
			[]func(*experiment.Outcome){unobserve("throughput"), change(func(o *experiment.Outcome) { o.Plan.Load = experiment.Load{None: true} })}, nil,
		},
		"engine-busy just under": {[]func(*experiment.Outcome){observe("engine.cpu", 0.2)}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := guard.New().JudgeRun(calm(tt.change...), settings)
			if diff := cmp.Diff(tt.want, brief(got)); diff != "" {
				t.Errorf("JudgeRun (-want +got):\n%s", diff)
			}
			for _, f := range got {
				if f.Run != 7 || f.Cell != "main|baseline|" {
					t.Errorf("finding %s is on run %d, cell %q", f.Code, f.Run, f.Cell)
				}
			}
		})
	}
}

func TestSettingsMoveAndSilenceGuards(t *testing.T) {
	above := func(code string, v float64) experiment.Settings {
		return experiment.Settings{ErrorRate: 0.01, Guards: map[string]experiment.GuardSetting{code: {Above: &v}}}
	}
	off := func(code string) experiment.Settings {
		return experiment.Settings{ErrorRate: 0.01, Guards: map[string]experiment.GuardSetting{code: {Off: true}}}
	}
	busy := calm(observe("generator.cpu", 0.75))
	failing := calm(observe("error_rate", 0.03))
	tests := map[string]struct {
		outcome  experiment.Outcome
		settings experiment.Settings
		want     []string
	}{
		"moved down":                 {busy, above("generator-cpu", 0.7), []string{"generator-cpu"}},
		"moved to the value":         {busy, above("generator-cpu", 0.75), nil},
		"moved up":                   {calm(observe("generator.cpu", 0.93)), above("generator-cpu", 0.95), nil},
		"off":                        {calm(observe("generator.cpu", 0.93)), off("generator-cpu"), nil},
		"errors by the matrix":       {failing, experiment.Settings{ErrorRate: 0.05}, nil},
		"errors by the guard's own":  {failing, above("errors", 0.02), []string{"errors"}},
		"errors where none may be":   {calm(observe("error_rate", 0.001)), experiment.Settings{}, []string{"errors"}},
		"no errors, and none may be": {calm(observe("error_rate", 0)), experiment.Settings{}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range guard.New().JudgeRun(tt.outcome, tt.settings) {
				got = append(got, f.Code)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("codes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFindingCarriesValueAndThreshold(t *testing.T) {
	got := guard.New().JudgeRun(calm(observe("generator.cpu", 0.93)), settings)
	want := []experiment.Finding{{
		Code: "generator-cpu", Severity: invalid, Run: 7, Cell: "main|baseline|", Service: "generator",
		Metric: "generator.cpu", Value: new(0.93), Threshold: new(0.8), Message: "generator used 0.93 of its 1 core (limit 80%)",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("JudgeRun (-want +got):\n%s", diff)
	}
}

func TestJudgeSweep(t *testing.T) {
	cells := []experiment.Cell{
		{Key: "b", Role: experiment.RoleBaseline},
		{Key: "t", Role: experiment.RoleVaried, Factor: "threads", Level: "8"},
	}
	run := func(cell experiment.CellKey, state experiment.RunState, hash string) experiment.RunRecord {
		return experiment.RunRecord{Run: experiment.Run{Cell: cell, State: state, ConfigHash: hash}}
	}
	ok, out := experiment.StateOK, experiment.StateSuperseded
	tests := map[string]struct {
		host  experiment.Host
		runs  []experiment.RunRecord
		notes []experiment.SweepNote
		set   experiment.Settings
		want  []experiment.Finding
	}{
		"not-equal": {
			runs: []experiment.RunRecord{run("b", ok, "aaaaaaaaaaaa"), run("t", ok, "cccccccccccc"), run("b", ok, "bbbbbbbbbbbb"), run("b", ok, "aaaaaaaaaaaa")},
			want: []experiment.Finding{{
				Code: "not-equal", Severity: warn, Cell: "b",
				Message: "baseline ran in 2 configurations: 2 runs of aaaaaaaa, 1 run of bbbbbbbb",
			}},
		},
		"not-equal only among counting runs": {
			runs: []experiment.RunRecord{run("b", ok, "aaaaaaaaaaaa"), run("b", out, "bbbbbbbbbbbb"), run("b", ok, "")},
		},
		"not-equal off": {
			runs: []experiment.RunRecord{run("b", ok, "aaaaaaaaaaaa"), run("b", ok, "bbbbbbbbbbbb")},
			set:  experiment.Settings{Guards: map[string]experiment.GuardSetting{"not-equal": {Off: true}}},
		},
		"engine-elsewhere": {
			host: experiment.Host{Name: "far", Engine: "docker 27.0"},
			want: []experiment.Finding{{
				Code: "engine-elsewhere", Severity: note, Service: "engine",
				Message: "docker 27.0 on far is not on this host: host probes were skipped",
			}},
		},
		"engine-elsewhere: it is here":    {host: experiment.Host{Name: "near", Engine: "docker 27.0", Local: true}},
		"engine-elsewhere: there is none": {host: experiment.Host{Name: "near", Local: true}},
		"notes of the analysis": {
			notes: []experiment.SweepNote{
				{Code: "round-without-baseline", Message: "round 2"},
				{Code: "noisy-cell", Cell: "t", Metric: "throughput", Message: "12 times"},
				{Code: "control-differs", Cell: "c", Metric: "throughput", Message: "p = 0.03"},
				{Code: "of a later version", Message: "?"},
			},
			want: []experiment.Finding{
				{Code: "control-differs", Severity: note, Cell: "c", Metric: "throughput", Message: "p = 0.03"},
				{Code: "noisy-cell", Severity: warn, Cell: "t", Metric: "throughput", Message: "12 times"},
				{Code: "round-without-baseline", Severity: warn, Message: "round 2"},
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := guard.New().JudgeSweep(experiment.Sweep{Cells: cells, Runs: tt.runs, Host: tt.host}, experiment.Results{Notes: tt.notes}, tt.set)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("JudgeSweep (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAllAreDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range guard.All() {
		if g.Code == "" || g.Help == "" || g.Severity == "" || seen[g.Code] {
			t.Errorf("guard %q: code, help or severity is missing, or it is there twice", g.Code)
		}
		if (g.Threshold != 0) != (g.Unit != "") {
			t.Errorf("guard %q: a threshold has a unit, and only it", g.Code)
		}
		seen[g.Code] = true
	}
}

func TestEmptyInputs(t *testing.T) {
	if got := guard.New().JudgeRun(experiment.Outcome{}, experiment.Settings{}); got != nil {
		t.Errorf("JudgeRun of nothing: %v", got)
	}
	if got := guard.New().JudgeSweep(experiment.Sweep{}, experiment.Results{}, experiment.Settings{}); got != nil {
		t.Errorf("JudgeSweep of nothing: %v", got)
	}
}

// Judging is pure: the outcome is not changed, and the answer does not depend on
// what was judged before.
func TestJudgeIsPure(t *testing.T) {
	o := calm(observe("generator.cpu", 0.93), observe("error_rate", 0.5))
	before := calm(observe("generator.cpu", 0.93), observe("error_rate", 0.5))
	j := guard.New()
	first := j.JudgeRun(o, settings)
	j.JudgeRun(calm(), settings)
	if diff := cmp.Diff(first, j.JudgeRun(o, settings)); diff != "" {
		t.Errorf("second answer differs:\n%s", diff)
	}
	if diff := cmp.Diff(before, o, cmp.AllowUnexported(experiment.Template{})); diff != "" {
		t.Errorf("outcome changed:\n%s", diff)
	}
}
