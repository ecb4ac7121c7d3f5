package conduct

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// judgingShare is how many times longer than the last analysis the runs since then
// must have taken before the sweep is analysed again: long sweeps spend a twentieth
// of their time on it at the most.
const judgingShare = 20

// interim says when the next analysis is due. The zero value: now.
type interim struct {
	ended time.Time
	took  time.Duration
}

func (i interim) due(now time.Time) bool { return now.Sub(i.ended) >= judgingShare*i.took }

// sound leaves out what is no number, and a second value of one moment, and says so: a
// faulty tool must not cost the rest of the run.
func (s *sweep) sound(o *experiment.Outcome) {
	isFinite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	o.Observations = slices.DeleteFunc(o.Observations, func(x experiment.Observation) bool {
		if isFinite(x.Value) {
			return false
		}
		s.Log.Warn("left out: no finite number", "run", o.Run.ID, "metric", x.Metric)
		return true
	})
	type place struct {
		service, metric string
		at              int64
	}
	seen := map[place]bool{}
	o.Series = slices.DeleteFunc(o.Series, func(x experiment.SeriesPoint) bool {
		p := place{x.Service, x.Metric, x.AtMS}
		twice := seen[p]
		seen[p] = true
		if twice {
			s.Log.Warn("left out: a second value of one moment", "run", o.Run.ID, "service", x.Service, "metric", x.Metric, "at_ms", x.AtMS)
		}
		return twice || !isFinite(x.Value)
	})
	o.Result.Observations, o.Result.Series = nil, nil // they stand among those of the run
}

// judgeRun asks the guards about a run that was measured or failed; an invalid
// finding excludes it by rule.
func (s *sweep) judgeRun(o *experiment.Outcome) []experiment.Finding {
	if o.Run.State == experiment.StateInterrupted || o.Run.State == experiment.StateSkipped {
		return nil
	}
	findings := s.Judge.JudgeRun(*o, s.req.Matrix.Judge)
	for i := range findings {
		findings[i].Run, findings[i].Cell = o.Run.ID, o.Run.Cell
		if findings[i].Severity == experiment.SeverityInvalid && o.Run.State == experiment.StateOK {
			o.Run.State, o.Run.Reason = experiment.StateInvalid, findings[i].Code
		}
	}
	return findings
}

// judge analyses the whole sweep and replaces its results.
func (s *sweep) judge(ctx context.Context) (experiment.Results, error) {
	began := time.Now()
	defer func() { s.interim = interim{ended: time.Now(), took: time.Since(began)} }()
	sw, err := s.Store.LoadSweep(ctx, s.head.ID)
	if err != nil {
		return experiment.Results{}, fmt.Errorf("load sweep: %w", err)
	}
	set := s.req.Matrix.Judge
	r, err := s.Analyst.Analyse(sw, set)
	if err != nil {
		return r, fmt.Errorf("analyse: %w", err)
	}
	r.Findings = s.Judge.JudgeSweep(sw, r, set)
	if err := s.Store.ReplaceResults(ctx, s.head.ID, r); err != nil {
		return r, fmt.Errorf("store results: %w", err)
	}
	return r, nil
}
