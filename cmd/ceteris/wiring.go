package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/analysis/guard"
	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/conduct"
	"github.com/ceteris/ceteris/runners/docker"
	"github.com/ceteris/ceteris/runners/gobuild"
	"github.com/ceteris/ceteris/runners/load"
	readers "github.com/ceteris/ceteris/runners/load/reader"
	"github.com/ceteris/ceteris/runners/probe"
	"github.com/ceteris/ceteris/runners/process"
	"github.com/ceteris/ceteris/runners/snapshot"
)

// newRunner makes the named runner. owner goes into labels and state files.
func (a *app) newRunner(name, owner string) (experiment.Runner, error) {
	builder := gobuild.New(gobuild.Options{Log: a.log})
	switch name {
	case experiment.RunnerDocker:
		return docker.New(docker.Options{Owner: owner, Builder: builder, Log: a.log})
	case experiment.RunnerProcess:
		return process.New(process.Options{StateDir: process.DefaultStateDir(), Builder: builder, Log: a.log}), nil
	default:
		return nil, fmt.Errorf("unknown runner %s", name)
	}
}

// newConductor joins the parts that measure a matrix; store, events and place are the
// caller's.
func (a *app) newConductor(m *experiment.Matrix, owner string) (*conduct.Conductor, error) {
	generator, linkProxy, err := tools(m)
	if err != nil {
		return nil, err
	}
	runner, err := a.newRunner(m.Runner, owner)
	if err != nil {
		return nil, err
	}
	prepared, err := a.newSnapshots()
	if err != nil {
		return nil, err
	}
	return &conduct.Conductor{
		Runner: runner, Probes: newProbes(m.Runner), Reader: load.Reader{}, Readers: readers.All(), Judge: guard.New(), Analyst: analysis.New(),
		Generator: generator, LinkProxy: linkProxy, Log: a.log, Now: a.now, Snapshots: prepared,
	}, nil
}

// invocation describes this call, without secrets.
func (a *app) invocation(owner string, shareHost bool) experiment.Invocation {
	return experiment.Invocation{
		Began: a.now(), Owner: owner, Command: each(os.Args, a.err.hide.text), Version: version, ShareHost: shareHost,
	}
}

// newProbes makes the probes that fit a runner.
func newProbes(runner string) []experiment.Probe {
	probes := []experiment.Probe{probe.NewHost(), probe.NewScrape()}
	if runner == experiment.RunnerDocker {
		probes = append(probes, probe.NewEngine())
	}
	return probes
}

// snapshots is a store of prepared volumes, as the conductor wants it.
type snapshots struct{ *snapshot.Store }

// Create implements conduct.Snapshots.
func (s snapshots) Create(key string) (experiment.SnapshotWriter, error) {
	draft, err := s.Store.Create(key)
	if err != nil {
		return nil, err // not a nil draft in an interface
	}
	return draft, nil
}

func (a *app) newSnapshots() (conduct.Snapshots, error) {
	store, err := snapshot.New(snapshot.Options{Log: a.log})
	return snapshots{store}, err
}

// chooseRunner resolves "auto": docker if an engine answers and has, or can pull,
// every image; else process if every service has a process form. Without pull,
// whatever is missing is taken to be there to be pulled.
func (a *app) chooseRunner(ctx context.Context, m *experiment.Matrix, override string, pull bool) (string, error) {
	name := m.Runner
	if override != "" {
		name = override
	}
	if name != experiment.RunnerAuto {
		return name, nil
	}
	reason, err := a.dockerFits(ctx, m, pull)
	if err != nil {
		return "", err
	}
	if reason == nil {
		return experiment.RunnerDocker, nil
	}
	if m.ForRunner(experiment.RunnerProcess).ValidateRunner() == nil {
		fmt.Fprintf(a.err, "ceteris: %s: processes instead of containers: %v\n", m.Name, reason)
		return experiment.RunnerProcess, nil
	}
	return "", experiment.WithHint(fmt.Errorf("no runner fits: %w: %w", experiment.ErrCannotRun, reason),
		"start a container engine, or give every service a process: form")
}

// dockerFits gives the reason why containers cannot be used here, or nil.
func (a *app) dockerFits(ctx context.Context, m *experiment.Matrix, pull bool) (reason, err error) {
	r, err := docker.New(docker.Options{Builder: gobuild.New(gobuild.Options{Log: a.log}), Log: a.log})
	if err != nil {
		return err, nil
	}
	if _, err := r.Check(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return err, nil
	}
	if !pull {
		return nil, nil
	}
	// Images are looked for, or pulled, now: without them there is no choice.
	images, err := imagesOf(m.ForRunner(experiment.RunnerDocker))
	if err != nil {
		return nil, err
	}
	if _, err := r.Prepare(ctx, images); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return err, nil
	}
	return nil, nil
}

// imagesOf gives the services of all cells that are images, and the images of steps.
func imagesOf(m *experiment.Matrix) ([]experiment.Service, error) {
	var images []experiment.Service
	for _, cell := range m.Cells() {
		p, err := m.Plan(cell)
		if err != nil {
			return nil, err
		}
		for _, s := range append(p.Launched(), conduct.StepImages(p)...) {
			if s.Image != "" {
				images = append(images, s)
			}
		}
	}
	return images, nil
}

// tools finds the programs that ceteris brings itself.
func tools(m *experiment.Matrix) (generator, linkProxy experiment.Build, err error) {
	near := []string{m.Origin.Dir}
	if wd, err := os.Getwd(); err == nil {
		near = append(near, wd)
	}
	generator, err1 := gobuild.Tool("loadgen", near...)
	linkProxy, err2 := gobuild.Tool("linkproxy", near...)
	if !m.OwnGenerator() {
		err1 = nil
	}
	if len(m.Subject.Links) == 0 {
		err2 = nil
	}
	return generator, linkProxy, errors.Join(err1, err2)
}
