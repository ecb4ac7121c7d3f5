package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/db"
	"github.com/ceteris/ceteris/experiment"
)

func newListCommand(a *app) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the sweeps of the database, the newest first",
		Example: "  ceteris list --format csv",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.list(cmd.Context(), report.Format(format)) },
	}
	formatFlag(cmd, &format, report.Formats()...)
	return cmd
}

func (a *app) list(ctx context.Context, format report.Format) error {
	r, err := a.openReader(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	sweeps, err := r.Sweeps(ctx)
	if err != nil {
		return err
	}
	spread, err := spreads(ctx, r)
	if err != nil {
		return err
	}
	lines := make([]report.SweepLine, len(sweeps))
	for i, s := range sweeps {
		lines[i] = sweepLine(s)
		lines[i].Stages, lines[i].Conditions = spread[s.ID].stages, spread[s.ID].conditions
	}
	return report.List(a.out, lines, format, a.tables())
}

// spread is over how much the cells of a sweep are spread.
type spread struct{ stages, conditions int }

func spreads(ctx context.Context, r *db.Reader) (map[int64]spread, error) {
	_, rows, err := r.Query(ctx, `SELECT sweep, count(DISTINCT stage), count(DISTINCT condition) FROM cells WHERE summary = 0 GROUP BY sweep`)
	if err != nil {
		return nil, err
	}
	out := map[int64]spread{}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		id, _ := row[0].(int64)
		stages, _ := row[1].(int64)
		conditions, _ := row[2].(int64)
		out[id] = spread{int(stages), int(conditions)}
	}
	return out, nil
}

func sweepLine(s db.SweepSummary) report.SweepLine {
	line := report.SweepLine{
		ID: s.ID, Name: s.Name, Hash: s.Hash, Runner: s.Runner, Rounds: s.Rounds,
		Runs: s.OK, State: sweepState(s), Began: s.Began, Cells: s.Cells,
		RoundsDone: s.Complete,
	}
	if line.State == "running" { // the days on which nobody measured are no part of it
		line.ETA = s.RunTime * time.Duration(s.Planned()-s.Done())
	}
	return line
}

// sweepState says where a sweep stands: done, running, or how its latest
// invocation ended.
func sweepState(s db.SweepSummary) string {
	switch {
	case s.Done() >= s.Planned():
		return "done"
	case s.Outcome != "":
		return s.Outcome
	case experiment.FateOf(s.Owner) == experiment.OwnerDead:
		return "died"
	default:
		return "running"
	}
}
