package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
	"github.com/ceteris/ceteris/experiment/matrixfile"
	"github.com/ceteris/ceteris/runners/load"
)

// loadAll reads all matrices and finds out whether each can be measured here: what
// would fail hours later, fails while somebody is there. Nothing has begun yet: the
// first signal ends it.
func (a *app) loadAll(ctx context.Context, o runOptions, files []string) ([]*experiment.Matrix, error) {
	stopping, cancel := context.WithCancel(ctx)
	defer cancel()
	defer a.interrupts.onFirst(cancel)()
	matrices := make([]*experiment.Matrix, len(files))
	err := a.each(stopping, files, func(i int) (err error) {
		if matrices[i], err = a.load(stopping, files[i], o.runner, true); err != nil {
			return err
		}
		if o.remake != nil {
			if matrices[i], err = o.remake(matrices[i]); err != nil {
				return err
			}
		}
		if o.peel {
			if err := peelable(matrices[i]); err != nil {
				return err
			}
		}
		return o.rounds.fits(matrices[i])
	})
	if err == nil {
		err = a.each(stopping, files, func(i int) error { return a.fits(stopping, matrices[i], o.acceptShared) })
	}
	switch {
	case ctx.Err() != nil:
		return nil, stopped(conduct.Result{Ended: conduct.EndedAborted})
	case a.interrupts.stopping.Err() != nil:
		return nil, stopped(conduct.Result{Ended: conduct.EndedDrained})
	default:
		return matrices, err
	}
}

// each looks at every file. Of several that are wrong, all errors are printed, and the
// gravest decides the exit code.
func (a *app) each(ctx context.Context, files []string, look func(i int) error) error {
	if len(files) == 1 {
		return look(0)
	}
	var codes []int
	for i, file := range files {
		err := look(i)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			printError(a.err, ofFile(file, err))
			codes = append(codes, exitCode(ctx, err))
		}
	}
	if code := gravest(codes); code != exitOK {
		return &endError{code, errors.New("nothing was begun")}
	}
	return nil
}

// ofFile puts the file before an error that does not name it by itself.
func ofFile(file string, err error) error {
	if _, named := errors.AsType[*experiment.FieldError](err); named {
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}

// load reads and checks a matrix and resolves its runner. Images that are needed
// to choose it are pulled, or only looked for.
func (a *app) load(ctx context.Context, file, runner string, pull bool) (*experiment.Matrix, error) {
	m, err := matrixfile.Load(file)
	if err != nil {
		return nil, err
	}
	name, err := a.chooseRunner(ctx, m, runner, pull)
	if err != nil {
		return nil, err
	}
	m = m.ForRunner(name)
	if err := m.ValidateRunner(); err != nil {
		return nil, err
	}
	return m, a.seal(m)
}

// seal takes the variables that a matrix refers to from the environment, and keeps
// them from then on out of everything that is written.
func (a *app) seal(m *experiment.Matrix) error {
	stored, values, err := secretsOf(m.EnvNames(), os.LookupEnv, userKey)
	if err != nil {
		return err
	}
	m.Secrets = stored
	a.err.hide.add(values)
	maps.Copy(a.secrets, values)
	return nil
}

// valuesOf gives the variables that a sealed matrix refers to, those that are set.
func (a *app) valuesOf(m *experiment.Matrix) map[string]string {
	values := map[string]string{}
	for _, s := range m.Secrets {
		if s.Set {
			values[s.Name] = a.secrets[s.Name]
		}
	}
	return values
}

// fits finds out whether a matrix can be planned, and measured on the host that its
// runner sees.
func (a *app) fits(ctx context.Context, m *experiment.Matrix, acceptShared bool) error {
	runner, err := a.newRunner(m.Runner, "")
	if err != nil {
		return err
	}
	host, err := runner.Check(ctx)
	if err != nil {
		return err
	}
	if err := m.Requires.Check(host); err != nil {
		return err
	}
	if _, err := experiment.Place(m.Place, host.Cores, acceptShared); err != nil {
		return err
	}
	if err := a.complete(m, host); err != nil {
		return err
	}
	_, _, err = tools(m)
	return err
}

// complete finds out whether everything that the cells of a matrix name is there, and
// whether their load can be driven.
func (a *app) complete(m *experiment.Matrix, host experiment.Host) error {
	values := a.valuesOf(m)
	in := &inputs{m: m, values: values, local: host.Local, feeds: map[string]*load.Feed{}, loads: map[string]bool{}}
	for _, cell := range m.Cells() {
		p, err := m.Plan(cell)
		if err != nil {
			return err
		}
		if err := conduct.Lacking(p, values); err != nil {
			return err
		}
		if err := in.check(p); err != nil {
			return err
		}
		if m.Runner != experiment.RunnerProcess || p.Load.External != nil {
			continue // whoever drives the load has another limit, and finds out by itself
		}
		if err := load.CheckDescriptors(p.Load); err != nil {
			return fmt.Errorf("%w: %w", experiment.ErrCannotRun, err)
		}
	}
	return nil
}

// checkRunner checks --runner; empty is its absence.
func checkRunner(name string) error {
	switch name {
	case "", experiment.RunnerAuto, experiment.RunnerDocker, experiment.RunnerProcess:
		return nil
	default:
		return &usageError{fmt.Errorf("--runner %s: want auto, docker or process", name)}
	}
}
