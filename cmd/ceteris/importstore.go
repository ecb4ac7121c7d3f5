package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/analysis/guard"
	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/db"
	"github.com/ceteris/ceteris/experiment"
)

// store makes runs of files that were understood, and analyses their sweep anew. It says
// in the view what became of each.
func (a *app) store(ctx context.Context, o importOptions, view *report.ImportView, artifacts []experiment.Artifact, choice experiment.CellChoice, baseline []experiment.Setting) error {
	store, done, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer done()
	ctx = context.WithoutCancel(ctx) // it takes moments: all of it or, before, nothing
	sweep, before, err := grownSweep(ctx, store, o.sweep)
	if err != nil {
		return err
	}
	m := sweep.Matrix
	if o.metric != "" {
		m.Judge.Metric = o.metric
	}
	if err := sweep.Tell(baseline); err != nil {
		return &usageError{fmt.Errorf("--baseline: %w", err)}
	}
	cell, err := sweep.Add(choice)
	if err != nil {
		return &usageError{fmt.Errorf("--cell: %w", err)}
	}
	first := int(o.round)
	if first == 0 {
		first = nextRound(before, cell)
	}
	spec := experiment.ImportSpec{Matrix: m, Hash: sweep.Hash(), Cells: m.Cells(), Replace: o.replace, Invocation: a.invocation("", false)}
	for i, f := range view.Files {
		run, err := importedRun(f, artifacts[i], m.Judge)
		if err != nil {
			return err
		}
		run.Run.Cell, run.Run.Round = cell.Key, first+i
		if run.Run.Round > experiment.MaxRounds {
			return &usageError{fmt.Errorf("--round: a sweep has at most %d rounds", experiment.MaxRounds)}
		}
		spec.Runs = append(spec.Runs, run)
	}
	id, runs, err := store.Import(ctx, spec)
	if err != nil {
		if errors.Is(err, experiment.ErrAlreadyImported) {
			return &usageError{err}
		}
		return err
	}
	for i, r := range spec.Runs {
		view.Files[i].Stored = &report.StoredRun{Run: runs[i], Cell: cell.Label(), Round: r.Run.Round, State: r.Run.State, Reason: r.Run.Reason}
		if artifacts[i].Body == nil {
			fmt.Fprintf(a.err, "ceteris: %s is too large to be kept with its run; its SHA-256 is\n", view.Files[i].File)
		}
	}
	view.Sweep, err = analyse(ctx, store, id)
	return err
}

// grownSweep gives the imported sweep of a name as it is stored, or a new one. One that
// was measured is never mixed with it.
func grownSweep(ctx context.Context, store *db.DB, name string) (*experiment.Imported, experiment.Sweep, error) {
	fresh, err := experiment.NewImported(name)
	if err != nil {
		return nil, experiment.Sweep{}, &usageError{fmt.Errorf("--sweep: %w", err)}
	}
	id, err := store.Imported(ctx, fresh.Hash())
	if err != nil {
		return nil, experiment.Sweep{}, err
	}
	if id != 0 {
		s, err := store.Outline(ctx, id)
		return experiment.ImportedOf(s), s, err
	}
	all, err := store.Sweeps(ctx)
	if err != nil {
		return nil, experiment.Sweep{}, err
	}
	for _, s := range all {
		if s.Name == name {
			return nil, experiment.Sweep{}, &usageError{experiment.WithHint(
				fmt.Errorf("--sweep %s: sweep %d of this name was measured by ceteris, and is not mixed with results from elsewhere", name, s.ID), "take another name")}
		}
	}
	return fresh, experiment.Sweep{}, nil
}

// nextRound is the one after the last of a cell.
func nextRound(s experiment.Sweep, cell experiment.Cell) int {
	last := 0
	for _, c := range s.Cells {
		if c.Label() != cell.Label() {
			continue
		}
		for _, r := range s.Runs {
			if r.Cell == c.Key && r.State != experiment.StateSuperseded {
				last = max(last, r.Round)
			}
		}
	}
	return last + 1
}

// importedRun makes the run of a file, without its cell and round, and judges it. There
// was no host, no subject and no load of ours: the guards that look at them find nothing.
func importedRun(f report.ImportedFile, artifact experiment.Artifact, set experiment.Settings) (experiment.JudgedRun, error) {
	o := experiment.Outcome{
		Run: experiment.Run{
			State: experiment.StateOK, Began: f.Result.Begin, Ended: f.Result.Begin.Add(f.Result.Window),
			ConfigHash: experiment.HashJSON([]string{f.Result.Tool, f.Result.Format}),
		},
		Plan:         experiment.CellPlan{Load: experiment.Load{None: true}},
		Observations: f.Result.Observations, Series: f.Result.Series, Result: f.Result,
		Import: &experiment.Import{Reader: f.Reader, File: f.File, SHA256: f.SHA256, Size: f.Size, Skip: f.Skip, Window: f.Window},
	}
	o.Result.Observations, o.Result.Series = nil, nil // they stand among those of the run
	if artifact.Body != nil {
		o.Artifacts = []experiment.Artifact{artifact}
	}
	if f.Incomplete != "" {
		o.Run.State, o.Run.Reason = experiment.StateInvalid, resultIncomplete
	} else if _, ok := o.Observed(set.Metric); !ok {
		return experiment.JudgedRun{}, &usageError{experiment.WithHint(fmt.Errorf("%s does not tell %s, by which the sweep is judged", f.File, set.Metric),
			"--metric, one of: "+strings.Join(metricNames(o.Observations), ", "))}
	}
	findings := guard.New().JudgeRun(o, set)
	for _, x := range findings {
		if x.Severity == experiment.SeverityInvalid && o.Run.State == experiment.StateOK {
			o.Run.State, o.Run.Reason = experiment.StateInvalid, x.Code
		}
	}
	return experiment.JudgedRun{Outcome: o, Findings: findings}, nil
}

// resultIncomplete is the code of the guard that speaks of a cut-off result.
const resultIncomplete = "result-incomplete"

func metricNames(all []experiment.Observation) []string {
	var names []string
	for _, o := range all {
		names = append(names, o.Metric)
	}
	slices.Sort(names)
	return names
}

// analyse judges a sweep from its runs, and replaces its results.
func analyse(ctx context.Context, store *db.DB, id int64) (experiment.Sweep, error) {
	s, err := store.LoadSweep(ctx, id)
	if err != nil {
		return s, err
	}
	results, err := analysis.New().Analyse(s, s.Settings)
	if err != nil {
		return s, fmt.Errorf("analyse: %w", err)
	}
	results.Findings = guard.New().JudgeSweep(s, results, s.Settings)
	return s, store.ReplaceResults(ctx, id, results)
}
