package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/ceteris/ceteris/experiment"
)

// StoreCalibration keeps what a sweep of identical cells showed for a metric; it
// replaces what the same sweep showed for it before.
func (d *DB) StoreCalibration(ctx context.Context, c experiment.Calibration) error {
	texts, err := jsonTexts(orEmpty(c.Shows))
	if err == nil {
		err = d.write(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO calibrated
				(sweep, metric, scale, host, name, made, copies, rounds, block, comparisons, alarms, alarm_limit, families, family_alarms, sd, shows)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
				c.Sweep, c.Metric, c.Scale, c.Host, c.Name, d.stamp(c.When), c.Copies, c.Rounds, c.Block, c.Comparisons, c.Alarms, c.Limit,
				c.Families, c.FamilyAlarms, c.SD, texts[0])
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("store calibration by sweep %d: %w", c.Sweep, err)
	}
	return nil
}

// loadHistory adds what earlier sweeps showed of the sweep's host. One that was
// imported has none.
func loadHistory(ctx context.Context, q querier, s *experiment.Sweep) error {
	if s.Runner == experiment.RunnerImported {
		return nil
	}
	host := s.Host.ID()
	var err error
	if s.Calibration, err = newestCalibration(ctx, q, host, s.Settings.Metric, s.ID); err != nil {
		return fmt.Errorf("calibration: %w", err)
	}
	type controls struct {
		host experiment.Host
		experiment.AAHistory
	}
	all, err := collect(ctx, q, "controls.sql", func(scan func(...any) error) (controls, error) {
		var c controls
		var host string
		if err := scan(&host, &c.Comparisons, &c.Alarms); err != nil {
			return c, err
		}
		return c, fromJSON(jsonInto{host, &c.host})
	}, s.ID)
	if err != nil {
		return fmt.Errorf("controls of other sweeps: %w", err)
	}
	for _, c := range all {
		if c.host.ID() == host {
			s.AA.Comparisons += c.Comparisons
			s.AA.Alarms += c.Alarms
		}
	}
	return nil
}

func newestCalibration(ctx context.Context, q querier, host, metric string, but int64) (*experiment.Calibration, error) {
	var c experiment.Calibration
	var shows string
	var made sql.Null[int64]
	err := q.QueryRowContext(ctx, query("calibration.sql"), host, metric, but).Scan(&c.Sweep, &c.Host, &c.Name, &c.Metric, &c.Scale, &made,
		&c.Copies, &c.Rounds, &c.Block, &c.Comparisons, &c.Alarms, &c.Limit, &c.Families, &c.FamilyAlarms, &c.SD, &shows)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c.When = moment(made)
	return &c, fromJSON(jsonInto{shows, &c.Shows})
}
