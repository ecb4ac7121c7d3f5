package docker

import (
	"context"
	"fmt"
	"slices"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"

	"github.com/ceteris/ceteris/experiment"
)

// volume names a volume of the run on the engine. One that is made anew while a
// container that has ended still holds the old one has a name of its own.
func (e *env) volume(name string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := e.renewed[name]; n > 0 {
		return fmt.Sprintf("%s-%s.%d", e.name, name, n)
	}
	return e.name + "-" + name
}

// renewVolumes makes the named volumes of a service anew, without what was in them.
// Those of a service that lives stay.
func (e *env) renewVolumes(ctx context.Context, s experiment.Service) error {
	for _, v := range s.Volumes {
		if user, ok := e.userOf(v.Name); ok {
			return fmt.Errorf("service %s uses volume %s", user, v.Name)
		}
		err := removeVolume(ctx, e.api, e.volume(v.Name))
		switch {
		case errdefs.IsConflict(err):
			e.mu.Lock()
			e.renewed[v.Name]++
			e.mu.Unlock()
		case err != nil:
			return err
		}
	}
	return e.makeVolumes(ctx, s)
}

// userOf names a service that lives and has the volume.
func (e *env) userOf(volume string) (string, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for name, p := range e.launched {
		if p != nil && !p.hasEnded() && slices.ContainsFunc(p.service.Volumes, func(v experiment.Volume) bool { return v.Name == volume }) {
			return name, true
		}
	}
	return "", false
}

// makeVolumes makes the named volumes of a service, as far as no other one of the run
// has brought them.
func (e *env) makeVolumes(ctx context.Context, s experiment.Service) error {
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
	defer cancel()
	for _, v := range s.Volumes {
		if _, err := e.api.VolumeCreate(whole, client.VolumeCreateOptions{Name: e.volume(v.Name), Labels: e.labels}); err != nil {
			return fmt.Errorf("make volume %s: %w", v.Name, err)
		}
	}
	return nil
}

// mounts gives what of the engine's host is seen in the container. The engine makes no
// directory of the host that does not exist.
func (e *env) mounts(s experiment.Service) []mount.Mount {
	var out []mount.Mount
	for _, m := range s.Mounts {
		out = append(out, mount.Mount{Type: mount.TypeBind, Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly})
	}
	for _, v := range s.Volumes {
		out = append(out, mount.Mount{Type: mount.TypeVolume, Source: e.volume(v.Name), Target: v.Target, ReadOnly: v.ReadOnly})
	}
	return out
}

// ownVolumes lists the named volumes of the run.
func (e *env) ownVolumes(ctx context.Context) ([]string, error) {
	list, err := e.api.VolumeList(ctx, client.VolumeListOptions{Filters: labelled(LabelEnv, e.name)})
	if err != nil {
		return nil, fmt.Errorf("list volumes: %w", err)
	}
	var names []string
	for _, v := range list.Items {
		names = append(names, v.Name)
	}
	return names, nil
}

// noteVolumes remembers the anonymous volumes of a container, which no label names.
func (e *env) noteVolumes(mounts []container.MountPoint) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range mounts {
		if m.Type == mount.TypeVolume && m.Name != "" {
			e.anonymous = append(e.anonymous, m.Name)
		}
	}
}

// removeVolume removes a volume that no container uses. None is no error.
func removeVolume(ctx context.Context, api client.APIClient, name string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	if _, err := api.VolumeRemove(ctx, name, client.VolumeRemoveOptions{Force: true}); err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("remove volume %s: %w", name, err)
	}
	return nil
}
