package db

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"github.com/ceteris/ceteris/experiment"
)

var errNotRunning = errors.New("it is not under way, or has been stored before")

// details are the parts of an outcome that plain SQL rarely asks for.
type details struct {
	Statuses      map[string]int64           `json:"statuses,omitempty"` // responses in the window, by status
	Errors        map[string]int64           `json:"errors,omitempty"`   // failures in the window, by kind
	Exits         map[string]experiment.Exit `json:"exits,omitempty"`
	Confirmations []experiment.Confirmation  `json:"confirmations,omitempty"`
}

func detailsOf(o experiment.Outcome) details {
	return details{Statuses: o.Result.Statuses, Errors: o.Result.Errors, Exits: o.Exits, Confirmations: o.Confirmations}
}

// EndRun stores a run that is over and all that belongs to it in one
// transaction: a crash leaves the whole run or nothing of it. A run ends once.
// What the generator told (o.Result) is stored with what stands in
// o.Observations and o.Series, which win where both have a value. Values must be
// finite.
func (d *DB) EndRun(ctx context.Context, o experiment.Outcome, findings []experiment.Finding) error {
	err := d.write(ctx, func(tx *sql.Tx) error {
		sweep, cell, err := d.endRunRow(ctx, tx, o)
		if err != nil {
			return err
		}
		return insertOutcome(ctx, tx, findingOn{sweep, o.Run.ID, cell}, o, findings)
	})
	if err != nil {
		return fmt.Errorf("store run %d: %w", o.Run.ID, err)
	}
	return nil
}

// insertOutcome stores what belongs to a run, beside its row.
func insertOutcome(ctx context.Context, tx *sql.Tx, on findingOn, o experiment.Outcome, findings []experiment.Finding) error {
	if err := insertObservations(ctx, tx, o); err != nil {
		return err
	}
	if err := insertSeries(ctx, tx, o); err != nil {
		return err
	}
	if err := insertHistograms(ctx, tx, o.Run.ID, o.Result.Histograms); err != nil {
		return err
	}
	if err := insertArtifacts(ctx, tx, o.Run.ID, o.Artifacts); err != nil {
		return err
	}
	for _, f := range findings {
		if err := insertFinding(ctx, tx, "run", on, f); err != nil {
			return err
		}
	}
	return nil
}

// endRunRow ends the row of the run. A run may be skipped before it began.
func (d *DB) endRunRow(ctx context.Context, tx *sql.Tx, o experiment.Outcome) (sweep, cell int64, err error) {
	r := o.Run
	from := "state = 'running'"
	switch r.State {
	case experiment.StatePending, experiment.StateRunning, experiment.StateSuperseded, "":
		return 0, 0, fmt.Errorf("%q is no state in which a run ends", r.State)
	case experiment.StateSkipped:
		from = "state IN ('pending', 'running')"
	default: // the schema refuses what is no state
	}
	texts, err := jsonTexts(detailsOf(o))
	if err != nil {
		return 0, 0, err
	}
	err = tx.QueryRowContext(ctx, `UPDATE runs SET state = ?, reason = ?, config_hash = ?, ended = ?, window_ns = ?, details = ?
		WHERE id = ? AND `+from+` RETURNING sweep, cell`,
		r.State, r.Reason, r.ConfigHash, d.stamp(r.Ended), positive(int64(o.Result.Window)), texts[0], r.ID).Scan(&sweep, &cell)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, 0, errNotRunning
	}
	return sweep, cell, err
}

func finite(v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("%v is no finite value", v)
	}
	return nil
}

func insertHistograms(ctx context.Context, tx *sql.Tx, run int64, all []experiment.Histogram) error {
	for _, h := range all {
		blob := h.Blob
		if blob == nil {
			blob = []byte{}
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO histograms (run, phase, request, kind, count, overflow, blob) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			run, h.Phase, h.Request, h.Kind, h.Count, h.Overflow, blob)
		if err != nil {
			return fmt.Errorf("histogram %s in %s: %w", h.Kind, h.Phase, err)
		}
	}
	return nil
}

func insertArtifacts(ctx context.Context, tx *sql.Tx, run int64, all []experiment.Artifact) error {
	for _, a := range all {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		if _, err := z.Write(a.Body); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO artifacts (run, service, name, full, size, gzip) VALUES (?, ?, ?, ?, ?, ?)`,
			run, a.Service, a.Name, max(a.Full, int64(len(a.Body))), len(a.Body), packed.Bytes())
		if err != nil {
			return fmt.Errorf("artifact %s of %s: %w", a.Name, a.Service, err)
		}
	}
	return nil
}

// findingOn is what a finding is about; run and cell are 0 where it has none.
type findingOn struct{ sweep, run, cell int64 }

func insertFinding(ctx context.Context, tx *sql.Tx, judged string, on findingOn, f experiment.Finding) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO findings (sweep, run, cell, judged, code, severity, service, metric, value, threshold, message)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		on.sweep, positive(on.run), positive(on.cell), judged, f.Code, f.Severity, f.Service, f.Metric, f.Value, f.Threshold, f.Message)
	if err != nil {
		return fmt.Errorf("finding %s: %w", f.Code, err)
	}
	return nil
}
