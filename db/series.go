package db

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/ceteris/ceteris/experiment"
)

// A run has thousands of series values, nine or so a slice. They are kept a row
// a metric, as a JSON array of whole numbers along an axis of times that runs
// share, and stay plain SQL (view series).

// track is what was observed of one metric of one service, by time in ms.
type track map[int64]float64

// tracks are those of one service, by metric.
type tracks map[string]track

func insertSeries(ctx context.Context, tx *sql.Tx, o experiment.Outcome) error {
	all, err := byService(o)
	if err != nil || len(all) == 0 {
		return err
	}
	insert, err := tx.PrepareContext(ctx, `INSERT INTO series_points (run, service, metric, axis, slices, base, per, points) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, service := range slices.Sorted(maps.Keys(all)) {
		of := all[service]
		times := of.times()
		axis, err := axisOf(ctx, tx, times)
		if err != nil {
			return fmt.Errorf("times of the series of %q: %w", service, err)
		}
		for _, metric := range slices.Sorted(maps.Keys(of)) {
			e := of[metric].encode(times)
			if _, err := insert.ExecContext(ctx, o.Run.ID, service, metric, axis, len(times), e.base, e.per, e.points); err != nil {
				return fmt.Errorf("series %s of %q: %w", metric, service, err)
			}
		}
	}
	return nil
}

func byService(o experiment.Outcome) (map[string]tracks, error) {
	all := map[string]tracks{}
	add := func(p experiment.SeriesPoint, twice bool) error {
		if err := finite(p.Value); err != nil {
			return fmt.Errorf("series %s at %d ms: %w", p.Metric, p.AtMS, err)
		}
		of := all[p.Service]
		if of == nil {
			of = tracks{}
			all[p.Service] = of
		}
		if of[p.Metric] == nil {
			of[p.Metric] = track{}
		}
		switch _, known := of[p.Metric][p.AtMS]; {
		case !known:
			of[p.Metric][p.AtMS] = p.Value
		case !twice:
			return fmt.Errorf("series %s at %d ms has two values", p.Metric, p.AtMS)
		}
		return nil
	}
	for _, p := range o.Series {
		if err := add(p, false); err != nil {
			return nil, err
		}
	}
	for _, p := range o.Result.Series {
		if err := add(p, true); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// times gives the moments of all metrics, the first first.
func (t tracks) times() []int64 {
	moments := map[int64]bool{}
	for _, values := range t {
		for at := range values {
			moments[at] = true
		}
	}
	return slices.Sorted(maps.Keys(moments))
}

// encoded is a track as it is stored: the value of a slice is base plus its point,
// divided by per.
type encoded struct {
	base, per float64
	points    any // JSON array along the times, null where there is no value; nil if every point is 0
}

// encode makes whole numbers of the values. Most of them are small: base is the
// smallest.
func (t track) encode(times []int64) encoded {
	e := encoded{per: t.divisor(), base: math.Inf(1)}
	varies := len(t) < len(times)
	whole := make(track, len(t))
	for at, v := range t {
		whole[at] = math.Round(v * e.per)
		e.base = min(e.base, whole[at])
	}
	p := []byte{'['}
	for i, at := range times {
		if i > 0 {
			p = append(p, ',')
		}
		if v, ok := whole[at]; ok {
			p = strconv.AppendFloat(p, v-e.base, 'f', -1, 64)
			varies = varies || v != e.base
		} else {
			p = append(p, "null"...)
		}
	}
	if varies {
		e.points = string(append(p, ']'))
	}
	return e
}

// divisor is 1 where all values are whole. Else it is the power of ten that leaves
// the largest of them five digits, or millionths (microseconds, for a latency) if
// those are four digits or more.
func (t track) divisor() float64 {
	largest, whole := 0.0, true
	for _, v := range t {
		largest = max(largest, math.Abs(v))
		whole = whole && v == math.Trunc(v)
	}
	per := 1.0
	if whole {
		return per
	}
	for largest*per < 1e4 && per < 1e6 {
		per *= 10
	}
	for largest*per < 1e3 && per < 1e21 {
		per *= 10
	}
	return per
}

// axisCandidates is how many axes with the same first time are looked at. Axes
// that runs share have been used lately; those of scrapes, which no two runs
// share, need not be searched.
const axisCandidates = 4

// axisOf finds an axis that begins with these times, extends one with which they
// begin, or adds one.
func axisOf(ctx context.Context, tx *sql.Tx, times []int64) (int64, error) {
	axes, err := candidates(ctx, tx, times[0])
	if err != nil {
		return 0, err
	}
	for _, axis := range axes {
		known, err := timesOf(ctx, tx, axis)
		if err != nil {
			return 0, err
		}
		shared := min(len(known), len(times))
		if slices.Equal(known[:shared], times[:shared]) {
			return axis, extend(ctx, tx, axis, times, shared)
		}
	}
	var axis int64
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(axis), 0) + 1 FROM series_times`).Scan(&axis); err != nil {
		return 0, err
	}
	return axis, extend(ctx, tx, axis, times, 0)
}

func candidates(ctx context.Context, tx *sql.Tx, first int64) ([]int64, error) {
	return numbers(ctx, tx, `SELECT axis FROM series_times WHERE position = 0 AND at_ms = ? ORDER BY axis DESC LIMIT ?`, first, axisCandidates)
}

func timesOf(ctx context.Context, tx *sql.Tx, axis int64) ([]int64, error) {
	return numbers(ctx, tx, `SELECT at_ms FROM series_times WHERE axis = ? ORDER BY position`, axis)
}

// numbers reads one column.
func numbers(ctx context.Context, q querier, text string, args ...any) ([]int64, error) {
	rows, err := q.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []int64
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, rows.Err()
}

// extend adds the times from position on to an axis.
func extend(ctx context.Context, tx *sql.Tx, axis int64, times []int64, from int) error {
	for i, at := range times[from:] {
		if _, err := tx.ExecContext(ctx, `INSERT INTO series_times (axis, position, at_ms) VALUES (?, ?, ?)`, axis, from+i, at); err != nil {
			return err
		}
	}
	return nil
}
