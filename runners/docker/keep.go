package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"

	"github.com/ceteris/ceteris/experiment"
)

var _ experiment.VolumeKeeper = (*env)(nil)

// keepDir is where the volumes of a service are mounted to be copied, each under its
// own name.
const keepDir = "/ceteris-volumes"

// SaveVolumes writes the volumes of a service that was launched and has ended. Owners,
// modes and times of the files are kept.
func (e *env) SaveVolumes(ctx context.Context, service string, w io.Writer) error {
	e.mu.Lock()
	p := e.launched[service]
	e.mu.Unlock()
	if p == nil || !p.hasEnded() {
		return fmt.Errorf("save volumes of service %s: it was not launched and stopped", service)
	}
	err := e.withVolumes(ctx, p.service, func(id string) error {
		res, err := e.api.CopyFromContainer(ctx, id, client.CopyFromContainerOptions{SourcePath: keepDir + "/."})
		if err != nil {
			return err
		}
		_, err = io.Copy(w, res.Content)
		return errors.Join(err, res.Content.Close())
	})
	if err != nil {
		return fmt.Errorf("save volumes of service %s: %w", service, err)
	}
	return nil
}

// RestoreVolumes fills the volumes of a service that is to be launched. They are made
// anew: whatever was in them is gone. It is an error if another service that lives has
// one of them.
func (e *env) RestoreVolumes(ctx context.Context, s experiment.Service, r io.Reader) error {
	old, err := e.reserve(s.Name)
	if err != nil {
		return fmt.Errorf("restore volumes: %w", err)
	}
	if old != nil {
		if err := old.remove(ctx); err != nil {
			e.settle(s.Name, old)
			return fmt.Errorf("restore volumes of service %s: %w", s.Name, err)
		}
	}
	e.settle(s.Name, nil)
	if err := e.renewVolumes(ctx, s); err != nil {
		return fmt.Errorf("restore volumes of service %s: %w", s.Name, err)
	}
	err = e.withVolumes(ctx, s, func(id string) error {
		_, err := e.api.CopyToContainer(ctx, id, client.CopyToContainerOptions{DestinationPath: keepDir, Content: r})
		return err
	})
	if err != nil {
		return fmt.Errorf("restore volumes of service %s: %w", s.Name, err)
	}
	return nil
}

// withVolumes calls do with a container, never started, that has the volumes of the
// service below keepDir. It is made from the service's own image, of which nothing is
// executed: any image will do, and this one is there.
func (e *env) withVolumes(ctx context.Context, s experiment.Service, do func(id string) error) error {
	image, ok := e.r.image(s)
	switch {
	case !ok:
		return fmt.Errorf("%s was not prepared", s.Source())
	case len(s.Volumes) == 0:
		return errors.New("it has none")
	}
	labels := maps.Clone(e.labels)
	labels[LabelService] = s.Name
	var mounts []mount.Mount
	for _, v := range s.Volumes {
		mounts = append(mounts, mount.Mount{
			Type: mount.TypeVolume, Source: e.volume(v.Name), Target: keepDir + "/" + v.Name,
			VolumeOptions: &mount.VolumeOptions{NoCopy: true},
		})
	}
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
	defer cancel()
	made, err := e.api.ContainerCreate(whole, client.ContainerCreateOptions{
		Name:       e.name + "-volumes-of-" + s.Name,
		Config:     &container.Config{Image: image, Labels: labels, Cmd: []string{"never started"}},
		HostConfig: &container.HostConfig{Mounts: mounts, NetworkMode: "none"},
	})
	if err != nil {
		return err
	}
	return errors.Join(do(made.ID), removeContainer(ctx, e.api, made.ID))
}
