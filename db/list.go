package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// SweepSummary is a sweep in a list. Runs that were superseded, interrupted or
// failed by the infrastructure are replaced by others and counted nowhere but in
// Replaced.
type SweepSummary struct {
	ID       int64
	Hash     string
	Serial   int
	Name     string
	Question string
	Runner   string
	Rounds   int // planned
	Cells    int
	Complete int // rounds that every cell has behind it
	Began    time.Time
	RunTime  time.Duration // mean of the runs that were made and count; 0 before the first

	OK, Invalid, Failed, Skipped, Running, Pending, Replaced int // runs

	Notes, Warnings int // findings by severity, those that exclude a run aside
	Worse           int // verdicts worse and fails of the primary metric, the control aside

	Invocations int
	Owner       string // of the latest invocation
	Outcome     string // of the latest invocation; empty while it runs
}

// Planned is the number of runs that make the sweep complete.
func (s SweepSummary) Planned() int { return s.Rounds * s.Cells }

// Done is the number of runs that stand for their cell and round.
func (s SweepSummary) Done() int { return s.OK + s.Invalid + s.Failed + s.Skipped }

// Sweeps lists all sweeps, the newest first.
func (r reading) Sweeps(ctx context.Context) ([]SweepSummary, error) {
	all, err := collect(ctx, r.pool, "sweeps.sql", func(scan func(...any) error) (SweepSummary, error) {
		var s SweepSummary
		var began sql.Null[int64]
		err := scan(&s.ID, &s.Hash, &s.Serial, &s.Name, &s.Question, &s.Runner, &s.Rounds, &s.Cells, &s.Complete, &began, &s.RunTime,
			&s.OK, &s.Invalid, &s.Failed, &s.Skipped, &s.Running, &s.Pending, &s.Replaced,
			&s.Notes, &s.Warnings, &s.Worse, &s.Invocations, &s.Owner, &s.Outcome)
		s.Began = moment(began)
		return s, err
	})
	if err != nil {
		return nil, fmt.Errorf("list sweeps: %w", err)
	}
	return all, nil
}

// minHashPrefix is how many hex digits of a hash name a sweep.
const minHashPrefix = 6

// Resolve finds the sweep that a command line names: an id, 6 or more digits of
// a hash (the newest of that hash), the name of a matrix (its newest), "latest"
// or nothing for the newest of all. The error wraps experiment.ErrUnknownSweep;
// its hint lists what there is.
func (r reading) Resolve(ctx context.Context, ref string) (int64, error) {
	all, err := collect(ctx, r.pool, "names.sql", func(scan func(...any) error) (sweepName, error) {
		var s sweepName
		return s, scan(&s.id, &s.name, &s.hash)
	})
	if err != nil {
		return 0, fmt.Errorf("find sweep %s: %w", ref, err)
	}
	if len(all) == 0 {
		return 0, experiment.WithHint(fmt.Errorf("%w: the database holds none", experiment.ErrUnknownSweep), "run a matrix first")
	}
	if ref == "" || ref == "latest" {
		return all[0].id, nil
	}
	if id, err := strconv.ParseInt(ref, 10, 64); err == nil {
		for _, s := range all {
			if s.id == id {
				return id, nil
			}
		}
	}
	for _, s := range all {
		if s.name == ref {
			return s.id, nil
		}
	}
	return byHash(all, ref)
}

// sweepName is by what a command line names a sweep.
type sweepName struct {
	id         int64
	name, hash string
}

func byHash(all []sweepName, ref string) (int64, error) {
	prefix := strings.ToLower(ref)
	var found sweepName
	for _, s := range all { // newest first
		if len(prefix) < minHashPrefix || !strings.HasPrefix(s.hash, prefix) {
			continue
		}
		if found.id != 0 && found.hash != s.hash {
			return 0, experiment.WithHint(fmt.Errorf("%w: %s begins the hashes of several", experiment.ErrUnknownSweep, ref), known(all))
		}
		if found.id == 0 {
			found = s
		}
	}
	if found.id == 0 {
		return 0, experiment.WithHint(fmt.Errorf("%w: %s", experiment.ErrUnknownSweep, ref), known(all))
	}
	return found.id, nil
}

// known lists sweeps for a hint, the newest ten.
func known(all []sweepName) string {
	var b strings.Builder
	b.WriteString("known: ")
	for i, s := range all {
		if i == 10 {
			fmt.Fprintf(&b, " and %d older", len(all)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d (%s, %.8s)", s.id, s.name, s.hash)
	}
	return b.String()
}

// StoredFinding is a finding with what it is about, for people.
type StoredFinding struct {
	experiment.Finding
	Label     string // of the cell; empty for findings on the sweep
	Condition string
	Round     int // 0 for findings that are not on a run
	RunState  experiment.RunState
}

// Findings gives all findings of a sweep: on the sweep, on cells, then on runs in
// their executed order.
func (r reading) Findings(ctx context.Context, sweep int64) ([]StoredFinding, error) {
	all, err := collect(ctx, r.pool, "findings.sql", scanFinding, sweep)
	if err != nil {
		return nil, fmt.Errorf("read findings of sweep %d: %w", sweep, err)
	}
	return all, nil
}

func scanFinding(scan func(...any) error) (StoredFinding, error) {
	var f StoredFinding
	err := scan(&f.Code, &f.Severity, &f.Run, &f.Cell, &f.Service, &f.Metric, &f.Value, &f.Threshold, &f.Message,
		&f.Label, &f.Condition, &f.Round, &f.RunState)
	return f, err
}

// Invocations gives the calls of run on a sweep, the first first.
func (r reading) Invocations(ctx context.Context, sweep int64) ([]experiment.Invocation, error) {
	all, err := collect(ctx, r.pool, "invocations.sql", func(scan func(...any) error) (experiment.Invocation, error) {
		var i experiment.Invocation
		var began, ended sql.Null[int64]
		var command string
		if err := scan(&i.ID, &i.Sweep, &began, &ended, &i.Owner, &command, &i.Version, &i.ShareHost, &i.Outcome); err != nil {
			return i, err
		}
		i.Began, i.Ended = moment(began), moment(ended)
		return i, fromJSON(jsonInto{command, &i.Command})
	}, sweep)
	if err != nil {
		return nil, fmt.Errorf("read invocations of sweep %d: %w", sweep, err)
	}
	return all, nil
}

// View is a view of the schema, with what a row of it is.
type View struct {
	Name, Comment string
	Columns       []string
}

// Views lists the views that are made for people, by name.
func (r reading) Views(ctx context.Context) ([]View, error) {
	all, err := collect(ctx, r.pool, "views.sql", func(scan func(...any) error) (View, error) {
		var v View
		var text, columns string
		if err := scan(&v.Name, &text, &columns); err != nil {
			return v, err
		}
		v.Comment = firstComment(text)
		return v, json.Unmarshal([]byte(columns), &v.Columns)
	})
	if err != nil {
		return nil, fmt.Errorf("list views: %w", err)
	}
	return all, nil
}

// firstComment gives the first comment of a statement.
func firstComment(text string) string {
	_, rest, _ := strings.Cut(text, "--")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

// Source gives the normalised matrix of a sweep as JSON and the text of its file.
func (r reading) Source(ctx context.Context, sweep int64) (matrix, text string, err error) {
	err = r.pool.QueryRowContext(ctx, `SELECT matrix, source FROM sweeps WHERE id = ?`, sweep).Scan(&matrix, &text)
	if errors.Is(err, sql.ErrNoRows) {
		err = experiment.ErrUnknownSweep
	}
	if err != nil {
		return "", "", fmt.Errorf("read matrix of sweep %d: %w", sweep, err)
	}
	return matrix, text, nil
}
