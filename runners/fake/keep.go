package fake

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"

	"github.com/ceteris/ceteris/experiment"
)

var _ experiment.VolumeKeeper = (*env)(nil)

// contentName is the file of a volume that holds all of it.
const contentName = "content"

// makeRoom lets go of a service that has ended, so that it can be started again.
func (e *env) makeRoom(service string) error {
	p := e.procs[service]
	if p == nil {
		return nil
	}
	if !p.hasEnded() {
		return errors.New("it was started before, and not stopped")
	}
	p.working.Wait()
	delete(e.procs, service)
	return nil
}

func (p *proc) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// SaveVolumes implements experiment.VolumeKeeper.
func (e *env) SaveVolumes(ctx context.Context, service string, w io.Writer) error {
	if err := e.runner.answer(ctx); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.procs[service]
	if p == nil || !p.hasEnded() {
		return fmt.Errorf("save volumes of service %s: it was not started and stopped", service)
	}
	out := tar.NewWriter(w)
	for _, v := range p.service.Volumes {
		content, ok := p.behaviour.Volumes[v.Name]
		if !ok {
			content = e.run.Restored[v.Name]
		}
		if err := out.WriteHeader(&tar.Header{Name: path.Join(v.Name, contentName), Mode: 0o600, Size: int64(len(content))}); err != nil {
			return err
		}
		if _, err := io.WriteString(out, content); err != nil {
			return err
		}
	}
	e.runner.happened(0, "save %d %s", e.run.N, service)
	return out.Close()
}

// RestoreVolumes implements experiment.VolumeKeeper.
func (e *env) RestoreVolumes(ctx context.Context, s experiment.Service, r io.Reader) error {
	if err := e.runner.answer(ctx); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.makeRoom(s.Name); err != nil {
		return fmt.Errorf("restore volumes of service %s: %w", s.Name, err)
	}
	for name, p := range e.procs {
		for _, v := range s.Volumes {
			if !p.hasEnded() && slices.ContainsFunc(p.service.Volumes, func(o experiment.Volume) bool { return o.Name == v.Name }) {
				return fmt.Errorf("restore volumes of service %s: service %s uses volume %s", s.Name, name, v.Name)
			}
		}
	}
	restored := maps.Clone(e.run.Restored) // scripts may hold the old one
	if restored == nil {
		restored = map[string]string{}
	}
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("restore volumes of service %s: %w", s.Name, err)
		}
		content, err := io.ReadAll(in)
		if err != nil {
			return fmt.Errorf("restore volumes of service %s: %w", s.Name, err)
		}
		restored[path.Dir(h.Name)] = string(content)
	}
	e.run.Restored = restored
	e.runner.happened(0, "restore %d %s", e.run.N, s.Name)
	return nil
}
