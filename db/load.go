package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/ceteris/ceteris/experiment"
)

// LoadSweep gives a sweep with its cells in order of declaration and its runs in
// order of their ids, each with what was observed in its measured window; the sweep
// before it in a peel likewise, without the one before that; and what other sweeps
// showed of its host. It is one consistent state. Positions in the matrix file are not
// kept.
func (r reading) LoadSweep(ctx context.Context, sweep int64) (experiment.Sweep, error) {
	return r.load(ctx, sweep, func(ctx context.Context, q querier, s *experiment.Sweep) error {
		if err := loadObservations(ctx, q, s); err != nil {
			return err
		}
		if err := loadHistory(ctx, q, s); err != nil {
			return err
		}
		if s.PeelParent == 0 {
			return nil
		}
		before, err := loadOutline(ctx, q, s.PeelParent)
		if err != nil {
			return fmt.Errorf("the sweep before it, %d: %w", s.PeelParent, err)
		}
		s.Before = &before
		return loadObservations(ctx, q, s.Before)
	})
}

// Outline gives a sweep as LoadSweep does, without what was observed, and without
// what other sweeps showed.
func (r reading) Outline(ctx context.Context, sweep int64) (experiment.Sweep, error) {
	return r.load(ctx, sweep, func(context.Context, querier, *experiment.Sweep) error { return nil })
}

func (r reading) load(ctx context.Context, sweep int64, more func(context.Context, querier, *experiment.Sweep) error) (experiment.Sweep, error) {
	var s experiment.Sweep
	err := r.snapshot(ctx, func(tx *sql.Tx) error {
		var err error
		if s, err = loadOutline(ctx, tx, sweep); err != nil {
			return err
		}
		return more(ctx, tx, &s)
	})
	if err != nil {
		return experiment.Sweep{}, fmt.Errorf("load sweep %d: %w", sweep, err)
	}
	return s, nil
}

func loadOutline(ctx context.Context, q querier, sweep int64) (experiment.Sweep, error) {
	s, err := loadHead(ctx, q, sweep)
	if err != nil {
		return s, err
	}
	if err := loadLastInvocation(ctx, q, &s); err != nil {
		return s, err
	}
	if s.Factors, s.Across, err = loadFactors(ctx, q, sweep); err != nil {
		return s, err
	}
	if s.Cells, s.Ladders, err = loadCells(ctx, q, sweep); err != nil {
		return s, err
	}
	runs, err := collect(ctx, q, "runs.sql", scanRun, sweep)
	s.Runs = make([]experiment.RunRecord, len(runs))
	for i, r := range runs {
		s.Runs[i].Run = r
	}
	return s, err
}

// snapshot runs f in one transaction that only reads.
func (r reading) snapshot(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := r.pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	return errors.Join(f(tx), tx.Rollback())
}

func loadHead(ctx context.Context, q querier, sweep int64) (experiment.Sweep, error) {
	s := experiment.Sweep{}
	var seed, settings, placement, host, declared, stopping string
	var began sql.Null[int64]
	err := q.QueryRowContext(ctx, query("sweep.sql"), sweep).Scan(&s.ID, &s.Hash, &s.Serial, &s.Name, &s.Question, &s.Runner, &seed, &s.Rounds,
		&settings, &placement, &host, &declared, &stopping, &s.PeelParent, &began)
	if errors.Is(err, sql.ErrNoRows) {
		return s, experiment.ErrUnknownSweep
	}
	if err != nil {
		return s, err
	}
	s.Began = moment(began)
	if s.Seed, err = strconv.ParseUint(seed, 10, 64); err != nil {
		return s, fmt.Errorf("seed: %w", err)
	}
	return s, fromJSON(jsonInto{settings, &s.Settings}, jsonInto{placement, &s.Placement}, jsonInto{host, &s.Host},
		jsonInto{declared, &s.Declared}, jsonInto{stopping, &s.Stopping})
}

// loadLastInvocation adds what is known of the newest invocation; there is one from the
// beginning of a sweep on.
func loadLastInvocation(ctx context.Context, q querier, s *experiment.Sweep) error {
	var images string
	err := q.QueryRowContext(ctx, query("last_invocation.sql"), s.ID).Scan(&images, &s.Version, &s.Ended)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return fromJSON(jsonInto{images, &s.Images})
}

type jsonInto struct {
	text string
	into any
}

func fromJSON(all ...jsonInto) error {
	for _, j := range all {
		if err := json.Unmarshal([]byte(j.text), j.into); err != nil {
			return fmt.Errorf("decode %T: %w", j.into, err)
		}
	}
	return nil
}

// loadFactors gives the factors, and the names of those that are conditions.
func loadFactors(ctx context.Context, q querier, sweep int64) (all []experiment.Factor, across []string, err error) {
	type row struct {
		factor              experiment.Factor
		level               experiment.Level
		position            int
		condition, baseline bool
	}
	rows, err := collect(ctx, q, "factors.sql", func(scan func(...any) error) (row, error) {
		var r row
		return r, scan(&r.factor.Name, &r.factor.Unit, &r.condition, &r.position, &r.level.Text, &r.baseline, &r.level.Unset)
	}, sweep)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range rows {
		if r.position == 0 {
			all = append(all, r.factor)
			if r.condition {
				across = append(across, r.factor.Name)
			}
		}
		f := &all[len(all)-1]
		f.Levels = append(f.Levels, r.level)
		if r.baseline {
			f.Baseline = r.position
		}
	}
	return all, across, nil
}

// loadCells gives the cells that are run, and those that stand for ladders.
func loadCells(ctx context.Context, q querier, sweep int64) (cells []experiment.Cell, ladders []experiment.Ladder, err error) {
	type setting struct {
		cell experiment.CellKey
		experiment.Setting
		off bool
	}
	type rung struct{ ladder, cell experiment.CellKey }
	all, err := collect(ctx, q, "cells.sql", func(scan func(...any) error) (experiment.Cell, error) {
		var c experiment.Cell
		return c, scan(&c.Key, &c.Stage, &c.Role, &c.Factor, &c.Level, &c.Condition)
	}, sweep)
	if err != nil {
		return nil, nil, err
	}
	settings, err := collect(ctx, q, "cell_settings.sql", func(scan func(...any) error) (setting, error) {
		var s setting
		return s, scan(&s.cell, &s.Factor, &s.Level, &s.off)
	}, sweep)
	if err != nil {
		return nil, nil, err
	}
	rungs, err := collect(ctx, q, "rungs.sql", func(scan func(...any) error) (rung, error) {
		var r rung
		return r, scan(&r.ladder, &r.cell)
	}, sweep)
	if err != nil {
		return nil, nil, err
	}
	index := make(map[experiment.CellKey]int, len(all))
	for i, c := range all {
		index[c.Key] = i
	}
	for _, s := range settings {
		c := &all[index[s.cell]]
		c.Settings = append(c.Settings, s.Setting)
		if s.off {
			c.Off = append(c.Off, s.Setting)
		}
	}
	climbs := map[experiment.CellKey][]experiment.CellKey{}
	for _, r := range rungs {
		climbs[r.ladder] = append(climbs[r.ladder], r.cell)
	}
	for _, c := range all {
		if keys, ok := climbs[c.Key]; ok {
			ladders = append(ladders, experiment.Ladder{Cell: c, Rungs: keys})
		} else {
			cells = append(cells, c)
		}
	}
	return cells, ladders, nil
}

// loadObservations adds to the runs what was observed in their measured windows.
func loadObservations(ctx context.Context, q querier, s *experiment.Sweep) error {
	type observation struct {
		run, quantity int64
		value         float64
	}
	known, err := loadQuantities(ctx, q)
	if err != nil {
		return err
	}
	named := make(map[int64]experiment.Observation, len(known))
	for what, id := range known {
		named[id] = what
	}
	observed, err := collect(ctx, q, "observations.sql", func(scan func(...any) error) (observation, error) {
		var o observation
		return o, scan(&o.run, &o.quantity, &o.value)
	}, s.ID)
	if err != nil {
		return err
	}
	index := make(map[int64]int, len(s.Runs))
	for i, r := range s.Runs {
		index[r.ID] = i
	}
	for _, o := range observed {
		r, what := &s.Runs[index[o.run]], named[o.quantity]
		what.Value = o.value
		r.Observations = append(r.Observations, what)
	}
	return nil
}
