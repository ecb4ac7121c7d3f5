package docker

import (
	"context"
	"fmt"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"

	"github.com/ceteris/ceteris/experiment"
)

// volume names a volume of the run on the engine.
func (e *env) volume(name string) string { return e.name + "-" + name }

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
