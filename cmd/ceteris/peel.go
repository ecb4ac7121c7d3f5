package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/experiment"
)

const (
	defaultPeelStages = 4
	mostPeelStages    = 20
)

// peeled is where a turn stands in a peel: a chain of sweeps, each around the best
// level of the factor that mattered most in the one before. The zero value is no peel.
type peeled struct {
	whole  *experiment.Matrix   // as declared
	stage  int                  // from 1
	moved  []experiment.Setting // adopted so far, in order
	spent  []experiment.Setting // levels that were the baseline before: a peel does not go back
	parent int64                // sweep of the stage before; 0: none
}

func (o runOptions) checkPeel() error {
	switch {
	case !o.peel && o.peelStages != defaultPeelStages:
		return &usageError{errors.New("--peel-stages is for --peel")}
	case o.peelStages < 1 || o.peelStages > mostPeelStages:
		return &usageError{fmt.Errorf("--peel-stages %d: want 1 to %d", o.peelStages, mostPeelStages)}
	default:
		return nil
	}
}

// peelable refuses a matrix that cannot be peeled.
func peelable(m *experiment.Matrix) error {
	metric, _ := experiment.Sweep{Declared: m.Declared()}.Metric(m.Judge.Metric)
	if metric.Better == experiment.NoDirection {
		return &experiment.FieldError{
			At: experiment.Pos{File: m.Origin.File}, Path: "judge.metric", Err: fmt.Errorf("%s is better neither way: no level of a factor is the best", m.Judge.Metric),
			Hint: "judge by another metric, or run it without --peel",
		}
	}
	_, err := m.Peel(1, nil)
	return err
}

// peelFrom makes the turn the first stage of a peel.
func (t *turn) peelFrom(m *experiment.Matrix) error {
	t.peel = peeled{whole: m, stage: 1}
	return t.stageOf()
}

func (t *turn) stageOf() (err error) {
	t.matrix, err = t.peel.whole.Peel(t.peel.stage, t.peel.moved)
	t.name = report.Plain(t.peel.whole.Name) + " " + experiment.PeelStage(t.peel.stage)
	return err
}

// peelOn gives the next stage after one that is done, and says what was adopted or why
// there is none. Nil where there is none, too, after a turn that is no peel, or not done.
func (n *night) peelOn(ctx context.Context, t *turn) *turn {
	if t.peel.stage == 0 || !t.done() {
		return nil
	}
	next, why, err := n.nextStage(ctx, t)
	if err != nil {
		printError(n.err, err)
		n.codes = append(n.codes, exitCode(ctx, err))
		return nil
	}
	fmt.Fprintln(n.err, "ceteris: peel: "+why)
	n.log.Info("peel", "matrix", t.peel.whole.Name, "stage", t.peel.stage, "sweep", t.sweep, "why", why)
	return next
}

func (n *night) nextStage(ctx context.Context, t *turn) (next *turn, why string, err error) {
	rep, err := storedReport(ctx, n.store, t.sweep)
	if err != nil {
		return nil, "", fmt.Errorf("peel: %w", err)
	}
	move, found := analysis.Dominant(rep.Sweep, rep.Results, t.peel.spent)
	if !found {
		why = fmt.Sprintf("no level is shown to be better by the minimum effect of %s any more", report.Quantity(t.matrix.Judge.MinimumEffect, experiment.UnitRatio))
		if bad, _ := rep.Incomparable(); bad != "" {
			why = "nothing can be compared: " + bad
		}
		return nil, why + ": " + experiment.PeelStage(t.peel.stage) + " is the last stage", nil
	}
	does := report.MoveText(rep.Sweep, rep.Results, move)
	if t.peel.stage == n.o.peelStages {
		return nil, fmt.Sprintf("%s, but --peel-stages %d is reached: it may hide more", does, n.o.peelStages), nil
	}
	p := t.peel
	p.stage, p.parent = p.stage+1, t.sweep
	p.spent = append(slices.Clone(p.spent), experiment.Setting{Factor: move.Factor, Level: move.From})
	p.moved = append(slices.Clone(p.moved), move.Setting)
	next = &turn{file: t.file, peel: p}
	return next, fmt.Sprintf("%s: adopted for %s", does, experiment.PeelStage(p.stage)), next.stageOf()
}
