package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/db"
	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
)

// night is one call of run: matrices that are measured one after another. One that
// fails does not stop the next.
type night struct {
	*app
	o     runOptions
	store *db.DB
	place *ownPlace
	until time.Time // no round begins later; zero: without bound
	turns []*turn
	rest  conduct.Rest // what one turn could not remove, for the next
	codes []int        // of what was no success
}

// measure takes the matrices in turn, and says at the end what has come of it.
func (n *night) measure(ctx context.Context, files []string, matrices []*experiment.Matrix) error {
	began := n.now()
	if !n.until.IsZero() {
		fmt.Fprintf(n.err, "ceteris: no round begins after %s, in %s\n", clockOf(n.until, began), report.Duration(n.until.Sub(began).Round(time.Second)))
	}
	for i, m := range matrices {
		t := &turn{file: files[i], name: report.Plain(m.Name), matrix: m}
		if n.o.peel {
			if err := t.peelFrom(m); err != nil {
				return ofFile(t.file, err)
			}
		}
		n.turns = append(n.turns, t)
	}
	for i := 0; i < len(n.turns); i++ {
		if why, code := n.over(ctx); why != "" {
			n.skip(n.turns[i:], why, code)
			break
		}
		n.take(ctx, n.turns[i])
		if next := n.peelOn(ctx, n.turns[i]); next != nil {
			n.turns = slices.Insert(n.turns, i+1, next)
		}
	}
	c := closing{turns: n.turns, took: n.now().Sub(began), database: n.store.Path(), next: n.o.next(n.turns)}
	for _, line := range c.lines() {
		fmt.Fprintln(n.err, "ceteris: "+line)
		n.log.Info("closing summary", "line", line)
	}
	if code := gravest(n.codes); code != exitOK {
		return &endError{code: code}
	}
	return nil
}

// over says why no matrix is to be begun any more, if that is so, and what the exit
// code of that is.
func (n *night) over(ctx context.Context) (why string, code int) {
	switch {
	case ctx.Err() != nil:
		return n.why(conduct.EndedAborted), exitAborted
	case n.interrupts.stopping.Err() != nil:
		return n.why(conduct.EndedDrained), exitEarly
	case !n.until.IsZero() && !n.now().Before(n.until):
		return n.why(conduct.EndedUntil), exitOK
	default:
		return "", exitOK
	}
}

func (n *night) skip(turns []*turn, why string, code int) {
	for _, t := range turns {
		t.why = why
	}
	n.codes = append(n.codes, code)
}

// take measures one matrix, prints its table, and runs its on_finish.
func (n *night) take(ctx context.Context, t *turn) {
	m := t.matrix
	if t != n.turns[0] && n.o.format == string(report.Text) {
		fmt.Fprintln(n.out)
	}
	t.begun = true
	result, err := n.conduct(ctx, m, t)
	t.sweep, t.why = result.Sweep, n.why(result.Ended)
	if t.sweep == 0 && result.Ended == conduct.EndedUntil {
		t.begun = false
	}
	code := exitOK
	if err := n.conclude(context.WithoutCancel(ctx), t, result, err); err != nil {
		code = exitCode(ctx, err)
		if len(n.turns) > 1 {
			err = ofFile(t.file, err)
		}
		printError(n.err, err)
		n.log.Info("matrix done", "matrix", m.Name, "exit", code, "err", err)
	} else {
		n.log.Info("matrix done", "matrix", m.Name, "exit", code)
	}
	n.codes = append(n.codes, code)
	if t.begun {
		n.onFinish(ctx, m, t.sweep, code, n.store.Path())
	}
}

// conduct executes what is missing of one matrix.
func (n *night) conduct(ctx context.Context, m *experiment.Matrix, t *turn) (conduct.Result, error) {
	owner, err := experiment.ThisOwner(n.store.ID())
	if err != nil {
		return conduct.Result{}, err
	}
	c, err := n.newConductor(m, owner.String())
	if err != nil {
		return conduct.Result{}, err
	}
	show := newProgress(n.err, m.Judge.Metric)
	defer show.close()
	defer n.place.restore(n.log) // the next matrix is placed on all cores again
	c.Store, c.Pin, c.Free, c.Rest = n.store, n.place.pin, freeFor(n.store.Path(), m), &n.rest
	c.Journal = n.store.Path() + "-slices"
	c.Events = n.logged(func(e conduct.Event) {
		t.runs.on(e)
		show.on(e)
	})
	return c.Conduct(ctx, conduct.Request{
		Matrix: m, Rounds: int(n.o.rounds), New: n.o.fresh, PeelParent: t.peel.parent, AcceptShared: n.o.acceptShared,
		Drain: n.interrupts.stopping.Done(), Until: n.until, Secrets: n.valuesOf(m),
		Invocation: n.invocation(owner.String(), n.o.shareHost),
	})
}

// conclude prints the comparison table of a sweep as it is stored, and says
// whether all of it counts. failed is what prevented it from being measured.
func (n *night) conclude(ctx context.Context, t *turn, result conduct.Result, failed error) error {
	if result.Sweep == 0 {
		if failed != nil {
			t.why = brief(failed)
			return failed
		}
		return stopped(result)
	}
	r, err := storedReport(ctx, n.store, result.Sweep)
	r.Options = n.tables()
	if err == nil {
		t.read(r.Sweep, r.Results, result.Ended)
	}
	if err := errors.Join(failed, err); err != nil {
		t.why = brief(err)
		return err
	}
	if err := n.print(ctx, r, result.Sweep); err != nil {
		t.why = brief(err)
		return err
	}
	if err := stopped(result); err != nil {
		return err
	}
	if why, last := r.Incomparable(); why != "" {
		t.why = "nothing can be compared: " + why
		if last != "" {
			why += ", at last by: " + last
		}
		return &endError{exitEarly, errors.New("nothing can be compared: " + why)}
	}
	if result.Missing > 0 {
		return &endError{exitEarly, fmt.Errorf("runs that the infrastructure failed twice and that are missing: %d; run again to repeat their rounds", result.Missing)}
	}
	if invalid := invalidRuns(r.Sweep.Runs); invalid > 0 {
		return &endError{exitEarly, fmt.Errorf("runs that are invalid and count for nothing: %d; see the findings", invalid)}
	}
	return nil
}

// invalidRuns counts the places of a sweep for which an invalid run stands: one that
// was tried again with success counts against nothing.
func invalidRuns(runs []experiment.RunRecord) int {
	type place struct {
		cell  experiment.CellKey
		round int
	}
	last := map[place]experiment.RunRecord{}
	for _, r := range runs {
		p := place{r.Cell, r.Round}
		if r.State != experiment.StateSuperseded && r.Attempt >= last[p].Attempt {
			last[p] = r
		}
	}
	invalid := 0
	for _, r := range last {
		if r.State == experiment.StateInvalid {
			invalid++
		}
	}
	return invalid
}

// print prints a table, without secrets.
func (n *night) print(ctx context.Context, r report.Report, sweep int64) error {
	var whole bytes.Buffer
	var err error
	if n.o.show != nil {
		if err := n.o.show(ctx, n, &whole, r); err != nil {
			return err
		}
	} else {
		err = report.Comparison(&whole, r, report.Format(n.o.format))
	}
	if err == nil {
		_, err = fmt.Fprint(n.out, n.err.hide.text(whole.String()))
	}
	if err != nil {
		return experiment.WithHint(fmt.Errorf("print the table: %w", err),
			fmt.Sprintf("everything is stored: ceteris compare %d", sweep))
	}
	return nil
}

// brief gives an error for half a line; the whole of it has a line of its own.
func brief(err error) string { return cut(report.Plain(err.Error()), 100) }
