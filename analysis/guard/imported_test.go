package guard

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func TestImported(t *testing.T) {
	set := experiment.Settings{ErrorRate: experiment.DefaultErrorRate}
	o := experiment.Outcome{
		Run:          experiment.Run{ID: 7, State: experiment.StateOK},
		Plan:         experiment.CellPlan{Load: experiment.Load{None: true}},
		Observations: []experiment.Observation{{Metric: "throughput", Phase: experiment.PhaseMeasure, Value: 100}},
		Result:       experiment.LoadResult{Tool: "k6 0.49.0", Format: "csv"},
		Import:       &experiment.Import{Reader: "k6", File: "monday.csv"},
	}
	for _, tt := range []struct {
		name   string
		change func(*experiment.Outcome)
		want   []string
	}{
		{"of a file; nobody looked at host and generator", func(*experiment.Outcome) {}, []string{
			"imported note measured by k6 0.49.0, imported from monday.csv (csv); host, generator and subject were not watched",
		}},
		{"of one that was cut off before it said anything", func(o *experiment.Outcome) {
			o.Run.State, o.Run.Reason, o.Result, o.Observations = experiment.StateInvalid, "result-incomplete", experiment.LoadResult{}, nil
		}, []string{
			"result-incomplete invalid the generator's report is incomplete",
			"imported note measured by k6, imported from monday.csv (cut off); host, generator and subject were not watched",
		}},
		{"without throughput", func(o *experiment.Outcome) { o.Observations[0].Metric = "service_time_p99" }, []string{
			"imported note measured by k6 0.49.0, imported from monday.csv (csv); host, generator and subject were not watched",
		}},
		{"of ours, whose generator was not watched", func(o *experiment.Outcome) {
			o.Import, o.Result.Tool, o.Observations[0].Metric = nil, "", "throughput"
		}, []string{
			"generator-cpu warn the generator's processor time was not measured, so it cannot be ruled out as the limit",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := o
			run.Observations = append([]experiment.Observation{}, o.Observations...)
			tt.change(&run)
			var got []string
			for _, f := range New().JudgeRun(run, set) {
				got = append(got, f.Code+" "+string(f.Severity)+" "+f.Message)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestImportedTools(t *testing.T) {
	cells := []experiment.Cell{
		{Key: "b", Role: experiment.RoleBaseline},
		{Key: "v", Role: experiment.RoleVaried, Factor: "pool", Level: "8"},
	}
	run := func(cell experiment.CellKey, hash string, state experiment.RunState) experiment.RunRecord {
		return experiment.RunRecord{Run: experiment.Run{Cell: cell, ConfigHash: hash, State: state}}
	}
	for _, tt := range []struct {
		name   string
		runner string
		runs   []experiment.RunRecord
		want   int
	}{
		{"one tool", experiment.RunnerImported, []experiment.RunRecord{run("b", "k6", "ok"), run("v", "k6", "ok")}, 0},
		{"two", experiment.RunnerImported, []experiment.RunRecord{run("b", "k6", "ok"), run("v", "wrk", "ok")}, 1},
		{"the other counts for nothing", experiment.RunnerImported, []experiment.RunRecord{run("b", "k6", "ok"), run("v", "k6", "ok"), run("v", "wrk", "superseded")}, 0},
		{"the baseline has both", experiment.RunnerImported, []experiment.RunRecord{run("b", "k6", "ok"), run("b", "wrk", "ok"), run("v", "k6", "ok")}, 0},
		{"there is no baseline", experiment.RunnerImported, []experiment.RunRecord{run("v", "wrk", "ok")}, 0},
		{"measured by ceteris, cells differ", experiment.RunnerProcess, []experiment.RunRecord{run("b", "1", "ok"), run("v", "2", "ok")}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := judgeImportedSweep(experiment.Sweep{Runner: tt.runner, Cells: cells, Runs: tt.runs}, experiment.Results{}, 0)
			if len(got) != tt.want || tt.want > 0 && (got[0].Cell != "v" || got[0].Severity != experiment.SeverityWarn) {
				t.Errorf("%+v", got)
			}
		})
	}
}
