package db

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/ceteris/ceteris/experiment"
)

// A run has some 60 observations, and nearly all runs have the same ones: what they
// are is kept once, as a quantity.

// quantities are the ids of observations without their value.
type quantities map[experiment.Observation]int64

func loadQuantities(ctx context.Context, q querier) (quantities, error) {
	type row struct {
		id   int64
		what experiment.Observation
	}
	rows, err := collect(ctx, q, "quantities.sql", func(scan func(...any) error) (row, error) {
		var r row
		return r, scan(&r.id, &r.what.Metric, &r.what.Phase, &r.what.Unit)
	})
	all := make(quantities, len(rows))
	for _, r := range rows {
		all[r.what] = r.id
	}
	return all, err
}

// id finds the quantity of an observation, or adds it.
func (q quantities) id(ctx context.Context, tx *sql.Tx, o experiment.Observation) (int64, error) {
	o.Value = 0
	if id, ok := q[o]; ok {
		return id, nil
	}
	r, err := tx.ExecContext(ctx, `INSERT INTO quantities (metric, phase, unit) VALUES (?, ?, ?)`, o.Metric, o.Phase, o.Unit)
	if err != nil {
		return 0, err
	}
	q[o], err = r.LastInsertId()
	return q[o], err
}

func insertObservations(ctx context.Context, tx *sql.Tx, o experiment.Outcome) error {
	known, err := loadQuantities(ctx, tx)
	if err != nil {
		return err
	}
	insert, err := tx.PrepareContext(ctx, `INSERT INTO observed (run, quantity, value) VALUES (?, ?, ?)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	type key struct {
		metric string
		phase  experiment.Phase
	}
	seen := make(map[key]bool, len(o.Observations))
	add := func(x experiment.Observation) error {
		seen[key{x.Metric, x.Phase}] = true
		if err := finite(x.Value); err != nil {
			return fmt.Errorf("%s in %s: %w", x.Metric, x.Phase, err)
		}
		quantity, err := known.id(ctx, tx, x)
		if err == nil {
			_, err = insert.ExecContext(ctx, o.Run.ID, quantity, x.Value)
		}
		if err != nil {
			return fmt.Errorf("%s in %s: %w", x.Metric, x.Phase, err)
		}
		return nil
	}
	for _, x := range o.Observations {
		if seen[key{x.Metric, x.Phase}] {
			return fmt.Errorf("%s in %s has two values", x.Metric, x.Phase)
		}
		if err := add(x); err != nil {
			return err
		}
	}
	for _, x := range o.Result.Observations {
		if !seen[key{x.Metric, x.Phase}] {
			if err := add(x); err != nil {
				return err
			}
		}
	}
	return nil
}
