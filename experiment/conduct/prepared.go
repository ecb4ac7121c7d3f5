package conduct

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/step"
)

// Snapshots keeps volumes as they are after their preparation, by a key that names
// everything of which they depend.
type Snapshots interface {
	// Open reads a snapshot; the error wraps fs.ErrNotExist if there is none.
	Open(key string) (io.ReadCloser, error)
	Create(key string) (experiment.SnapshotWriter, error)
}

// snapshotLimit bounds the making and the restoring of one snapshot.
const snapshotLimit = experiment.DefaultJobWithin

// prepareSteps does the steps of a preparation one after another. The preparation is
// declared, as the services are: one that goes wrong is a failure of the subject, and
// no attempt would change it.
func (r *oneRun) prepareSteps(ctx context.Context, owner string, steps []experiment.Step) error {
	for _, s := range steps {
		s.Within = cmp.Or(s.Within, experiment.DefaultJobWithin)
		replies, err := r.ask(ctx, owner, s)
		if err != nil {
			return r.blame(ctx, named(s, owner), s, fmt.Errorf("prepare: %w", err))
		}
		for _, a := range replies {
			if err := a.Err(); err != nil {
				return &failure{experiment.StateFailedSubject, fmt.Sprintf("prepare: %s: %s: %v", a.service, step.Describe(s), err)}
			}
		}
	}
	return nil
}

// prepareAll does what is to be done once all services are ready.
func (r *oneRun) prepareAll(ctx context.Context) error {
	var failed error
	steps := r.secrets.steps(r.plan.Prepare)
	for i := range steps {
		steps[i] = steps[i].Resolve(r.addresses("prepare", &failed))
	}
	if failed != nil {
		return failed
	}
	return r.prepareSteps(ctx, "", steps)
}

// startPrepared starts a service and does what its preparation says, or gives it the
// volumes of an earlier one.
func (r *oneRun) startPrepared(ctx context.Context, svc experiment.Service) (experiment.Proc, error) {
	declared := svc.Prepare
	if len(declared.Steps) == 0 || svc.Job {
		return r.start(ctx, svc)
	}
	if declared.Snapshot {
		keeper, why := r.keeper(svc)
		if why == "" {
			if err := r.snapshot(ctx, svc, keeper); err != nil {
				return nil, err
			}
			return r.start(ctx, svc)
		}
		if r.unkept[svc.Name] != why {
			r.unkept[svc.Name] = why
			r.Log.Warn("no snapshot: every run is prepared anew", "service", svc.Name, "why", why)
		}
	}
	proc, err := r.start(ctx, svc)
	if err != nil {
		return nil, err
	}
	return proc, r.prepareSteps(ctx, svc.Name, declared.Steps)
}

// keeper gives what keeps the volumes of a service, or why there is no snapshot of them.
func (r *oneRun) keeper(svc experiment.Service) (keeper experiment.VolumeKeeper, why string) {
	keeper, ok := r.env.(experiment.VolumeKeeper)
	switch {
	case !ok:
		return nil, "the runner " + r.Runner.Name() + " keeps no volumes"
	case r.Snapshots == nil:
		return nil, "there is no place for snapshots"
	case svc.Replicas > 1:
		return nil, "the service has replicas"
	}
	return keeper, r.unkeepable[r.snapshotKey(svc.Name)]
}

// snapshot fills the volumes of a service that is to be launched: from the snapshot of
// an earlier preparation, or else from the one that it makes first, so that the first
// run starts from a copy as all later ones do.
func (r *oneRun) snapshot(ctx context.Context, svc experiment.Service, keeper experiment.VolumeKeeper) error {
	key := r.snapshotKey(svc.Name)
	kept, err := r.Snapshots.Open(key)
	there := err == nil
	if errors.Is(err, fs.ErrNotExist) {
		if err = r.makeSnapshot(ctx, svc, keeper, key); err != nil {
			return err
		}
		kept, err = r.Snapshots.Open(key)
	}
	if err != nil {
		return fmt.Errorf("prepare service %s: open its snapshot: %w", svc.Name, err)
	}
	defer kept.Close()
	restoring, cancel := context.WithTimeout(ctx, snapshotLimit)
	defer cancel()
	if err := keeper.RestoreVolumes(restoring, svc, kept); err != nil {
		return fmt.Errorf("prepare service %s: restore its snapshot: %w", svc.Name, err)
	}
	restored := 0.0
	if there {
		restored = 1
	}
	r.observe(svc.Name+".restored", experiment.PhaseReady, restored, experiment.UnitCount)
	e := r.event(EventSnapshot, r.outcome.Run, r.plan)
	e.Service, e.Restored = svc.Name, there
	r.Events(e)
	return nil
}

// makeSnapshot prepares a service once, ends it, and keeps its volumes.
func (r *oneRun) makeSnapshot(ctx context.Context, svc experiment.Service, keeper experiment.VolumeKeeper, key string) error {
	proc, err := r.env.Launch(ctx, svc)
	if err != nil {
		return err
	}
	r.procs[svc.Name] = proc
	defer delete(r.procs, svc.Name)
	if elsewhere(r.ready[svc.Name], svc.Name) {
		if err := r.awaitElsewhere(ctx, svc.Name, *r.ready[svc.Name]); err != nil {
			return err
		}
	}
	if err := r.prepareSteps(ctx, svc.Name, svc.Prepare.Steps); err != nil {
		return err
	}
	if err := proc.Stop(ctx); err != nil {
		return fmt.Errorf("prepare service %s: stop it: %w", svc.Name, err)
	}
	w, err := r.Snapshots.Create(key)
	if err != nil {
		r.unkeepable[key] = err.Error()
		return fmt.Errorf("prepare service %s: make its snapshot: %w", svc.Name, err)
	}
	saving, cancel := context.WithTimeout(ctx, snapshotLimit)
	defer cancel()
	d := &draft{SnapshotWriter: w}
	if err = keeper.SaveVolumes(saving, svc.Name, d); err == nil {
		err = w.Commit()
		d.refused = err != nil
	}
	if err = errors.Join(err, w.Close()); err != nil {
		if d.refused { // too large, or no room: the next attempt does without
			r.unkeepable[key] = err.Error()
		}
		return fmt.Errorf("prepare service %s: keep its volumes: %w", svc.Name, err)
	}
	return nil
}

// draft tells whether it is the snapshot that cannot be written, or the volumes that
// cannot be read.
type draft struct {
	experiment.SnapshotWriter
	refused bool
}

func (d *draft) Write(b []byte) (int, error) {
	n, err := d.SnapshotWriter.Write(b)
	d.refused = d.refused || err != nil
	return n, err
}

// snapshotKey names what prepared volumes depend on: what the service runs, and those
// that it needs, the images of the steps that prepare them, and how; addresses and
// secrets are in it by reference and by their keyed hashes.
func (r *oneRun) snapshotKey(name string) string {
	type part struct {
		Name, Image string
		Command     []experiment.Template
		Env         []experiment.EnvVar
		Files       []experiment.File
		Volumes     []experiment.Volume
		Prepare     experiment.Preparation
		Steps       []string // images
	}
	var parts []part
	var add func(name string)
	add = func(name string) {
		for _, svc := range r.plan.Services {
			if svc.Name != name || slices.ContainsFunc(parts, func(p part) bool { return p.Name == name }) {
				continue
			}
			var steps []string
			for _, s := range imagesOf(svc.Prepare.Steps) {
				steps = append(steps, r.images[s.Source()])
			}
			parts = append(parts, part{svc.Name, r.images[svc.Source()], svc.Command, svc.Env, svc.Files, svc.Volumes, svc.Prepare, steps})
			for _, need := range needsOf(svc, nil) {
				add(need)
			}
		}
	}
	add(name)
	return experiment.HashJSON(struct {
		Runner  string
		Parts   []part
		Secrets []experiment.Secret
	}{r.Runner.Name(), parts, r.req.Matrix.Secrets})
}
