package conduct_test

import (
	"context"
	"io"
	"sync"
	"testing/iotest"
	"time"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
	"github.com/ceteris/ceteris/runners/fake"
)

// tap is a scripted runner that tells what its services are asked, and may change what
// it gives.
type tap struct {
	*fake.Runner
	images func(experiment.Images)         // changes them
	saved  func() error                    // after volumes were saved
	asked  func(what string) time.Duration // "usage app", "exec app", one call at a time; how long it takes
	broken error                           // what ends the output of a generator
	mu     sync.Mutex
}

// through puts the tap between the conductor and its runner.
func (s *stage) through(t *tap) {
	before := s.change
	s.change = func(c *conduct.Conductor) {
		if before != nil {
			before(c)
		}
		t.Runner = s.runner
		c.Runner = t
	}
}

func (t *tap) told(what string) {
	if t.asked == nil {
		return
	}
	t.mu.Lock()
	takes := t.asked(what)
	t.mu.Unlock()
	time.Sleep(takes)
}

func (t *tap) Prepare(ctx context.Context, all []experiment.Service) (experiment.Images, error) {
	images, err := t.Runner.Prepare(ctx, all)
	if t.images != nil {
		t.images(images)
	}
	return images, err
}

func (t *tap) Open(ctx context.Context, key experiment.RunKey) (experiment.Env, error) {
	e, err := t.Runner.Open(ctx, key)
	if err != nil {
		return e, err
	}
	return tappedEnv{e, e.(experiment.VolumeKeeper), t}, nil
}

type tappedEnv struct {
	experiment.Env
	experiment.VolumeKeeper
	of *tap
}

func (e tappedEnv) SaveVolumes(ctx context.Context, service string, w io.Writer) error {
	err := e.VolumeKeeper.SaveVolumes(ctx, service, w)
	if err == nil && e.of.saved != nil {
		err = e.of.saved()
	}
	return err
}

func (e tappedEnv) Launch(ctx context.Context, s experiment.Service) (experiment.Proc, error) {
	p, err := e.Env.Launch(ctx, s)
	if err != nil {
		return nil, err
	}
	return tappedProc{p, p.(experiment.Execer), s.Name, e.of}, nil
}

type tappedProc struct {
	experiment.Proc
	experiment.Execer
	name string
	of   *tap
}

func (p tappedProc) Usage(ctx context.Context) (experiment.Usage, error) {
	p.of.told("usage " + p.name)
	return p.Proc.Usage(ctx)
}

func (p tappedProc) Logs(ctx context.Context, follow bool) (io.ReadCloser, error) {
	r, err := p.Proc.Logs(ctx, follow)
	if err != nil || p.of.broken == nil || !follow {
		return r, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(r, iotest.ErrReader(p.of.broken)), r}, nil
}

func (p tappedProc) Exec(ctx context.Context, argv []string) (experiment.ExecResult, error) {
	p.of.told("exec " + p.name)
	return p.Execer.Exec(ctx, argv)
}
