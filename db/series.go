package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// A run has thousands of series values, nine or so a slice. They are kept a row
// a slice, as a JSON array whose places are named by a shared layout: a third of
// the bytes of a row a value, and still plain SQL (view series).

type sliceKey struct {
	service string
	atMS    int64
}

// slice is what was observed in one slice of one service.
type slice struct {
	sliceKey
	points []experiment.SeriesPoint
}

func (s slice) find(metric string) bool {
	return slices.ContainsFunc(s.points, func(p experiment.SeriesPoint) bool { return p.Metric == metric })
}

func insertSeries(ctx context.Context, tx *sql.Tx, o experiment.Outcome) error {
	all, err := bySlice(o)
	if err != nil || len(all) == 0 {
		return err
	}
	insert, err := tx.PrepareContext(ctx, `INSERT INTO series_slices (run, service, at_ms, layout, points) VALUES (?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	layouts := map[string]int64{}
	for _, s := range all {
		names, points := s.encode()
		layout, ok := layouts[names]
		if !ok {
			if layout, err = layoutOf(ctx, tx, s.points); err != nil {
				return fmt.Errorf("series of %q: %w", s.service, err)
			}
			layouts[names] = layout
		}
		if _, err := insert.ExecContext(ctx, o.Run.ID, s.service, s.atMS, layout, points); err != nil {
			return fmt.Errorf("series of %q at %d ms: %w", s.service, s.atMS, err)
		}
	}
	return nil
}

// bySlice groups the points, in order of their keys, metrics in order of name.
func bySlice(o experiment.Outcome) ([]slice, error) {
	index := make(map[sliceKey]int)
	var all []slice
	add := func(p experiment.SeriesPoint, twice bool) error {
		if err := finite(p.Value); err != nil {
			return fmt.Errorf("series %s at %d ms: %w", p.Metric, p.AtMS, err)
		}
		k := sliceKey{p.Service, p.AtMS}
		i, ok := index[k]
		if !ok {
			i = len(all)
			index[k] = i
			all = append(all, slice{sliceKey: k})
		}
		switch {
		case !all[i].find(p.Metric):
			all[i].points = append(all[i].points, p)
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
	for _, s := range all {
		slices.SortFunc(s.points, func(a, b experiment.SeriesPoint) int { return strings.Compare(a.Metric, b.Metric) })
	}
	slices.SortFunc(all, func(a, b slice) int {
		if c := strings.Compare(a.service, b.service); c != 0 {
			return c
		}
		return int(a.atMS - b.atMS)
	})
	return all, nil
}

// encode gives the names of the metrics, joined, and the values as JSON.
func (s slice) encode() (names, points string) {
	var n strings.Builder
	p := []byte{'['}
	for i, x := range s.points {
		if i > 0 {
			n.WriteByte(0)
			p = append(p, ',')
		}
		n.WriteString(x.Metric)
		p = strconv.AppendFloat(p, x.Value, 'g', -1, 64)
	}
	return n.String(), string(append(p, ']'))
}

// layoutOf finds the layout that names just these metrics in this order, or adds
// it.
func layoutOf(ctx context.Context, tx *sql.Tx, points []experiment.SeriesPoint) (int64, error) {
	metrics := make([]string, len(points))
	for i, p := range points {
		metrics[i] = p.Metric
	}
	texts, err := jsonTexts(metrics)
	if err != nil {
		return 0, err
	}
	var id int64
	err = tx.QueryRowContext(ctx, query("layout.sql"), texts[0]).Scan(&id)
	if !errors.Is(err, sql.ErrNoRows) {
		return id, err
	}
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(layout), 0) + 1 FROM series_columns`).Scan(&id); err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO series_columns (layout, position, metric) SELECT ?, key, value FROM json_each(?)`, id, texts[0])
	return id, err
}
