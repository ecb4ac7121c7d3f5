package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/authconfig"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/gobuild"
)

// Repository is where images of builds are kept, tagged by their content.
const Repository = "ceteris/local"

// Prepare makes every distinct source of the services ready to be launched: an
// image is present or pulled, a build is compiled, if need be, and loaded as an
// image FROM scratch. It gives the image ID of each source. What was prepared
// stays for the life of the Runner: a tag that moves in between changes nothing.
func (r *Runner) Prepare(ctx context.Context, all []experiment.Service) (experiment.Images, error) {
	api, err := r.client()
	if err != nil {
		return nil, err
	}
	host, err := r.facts(ctx)
	if err != nil {
		return nil, err
	}
	out := experiment.Images{}
	for _, s := range all {
		source := s.Source()
		if _, done := out[source]; done {
			continue
		}
		id, ok := r.image(source)
		if !ok {
			began := time.Now()
			if id, err = r.prepare(ctx, api, s, host.Arch); err != nil {
				return nil, fmt.Errorf("prepare service %s: %w", s.Name, err)
			}
			r.log.Debug("image ready", "source", source, "id", id, "took", time.Since(began))
		}
		out[source] = id
		r.mu.Lock()
		r.images[source] = id
		r.mu.Unlock()
	}
	return out, nil
}

func (r *Runner) image(source string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id, ok := r.images[source]
	return id, ok
}

func (r *Runner) prepare(ctx context.Context, api client.APIClient, s experiment.Service, arch string) (string, error) {
	switch {
	case s.Build != nil:
		binary, err := r.builder.Binary(ctx, *s.Build, "linux", arch)
		if err != nil {
			return "", err
		}
		return loadScratch(ctx, api, binary, arch)
	case s.Image != "":
		return findOrPull(ctx, api, s.Image)
	default:
		return "", errors.New("a container needs an image or a build")
	}
}

// loadScratch gives the image of an executable, which is loaded only if the
// engine lacks it.
func loadScratch(ctx context.Context, api client.APIClient, binary, arch string) (string, error) {
	if err := gobuild.CheckStatic(binary, arch); err != nil {
		return "", err
	}
	image, err := gobuild.ScratchImage(binary, arch, Repository)
	if err != nil {
		return "", err
	}
	found, err := api.ImageInspect(ctx, image.Tag)
	if err == nil {
		return found.ID, nil
	}
	if !errdefs.IsNotFound(err) {
		return "", fmt.Errorf("look for image %s: %w", image.Tag, err)
	}
	res, err := api.ImageLoad(ctx, bytes.NewReader(image.Archive), client.ImageLoadWithQuiet(true))
	if err != nil {
		return "", fmt.Errorf("load image %s: %w", image.Tag, err)
	}
	answer, err := io.ReadAll(io.LimitReader(res, 1<<20))
	if err = errors.Join(err, res.Close()); err != nil {
		return "", fmt.Errorf("load image %s: %w", image.Tag, err)
	}
	if found, err = api.ImageInspect(ctx, image.Tag); err != nil {
		return "", fmt.Errorf("load image %s: %w (the engine said %q)", image.Tag, err, answer)
	}
	return found.ID, nil
}

func findOrPull(ctx context.Context, api client.APIClient, name string) (string, error) {
	found, err := api.ImageInspect(ctx, name)
	if err == nil {
		return found.ID, nil
	}
	if !errdefs.IsNotFound(err) {
		return "", fmt.Errorf("look for image %s: %w", name, err)
	}
	if err := pull(ctx, api, name); err != nil {
		return "", experiment.WithHint(fmt.Errorf("image %s is not on the engine and cannot be pulled: %w", name, err),
			"docker pull "+name+" or docker load it; check the name")
	}
	if found, err = api.ImageInspect(ctx, name); err != nil {
		return "", fmt.Errorf("look for image %s: %w", name, err)
	}
	return found.ID, nil
}

// pull tries once, with the caller's credentials for the registry if there are
// any: the library would go on for a quarter of an hour.
func pull(ctx context.Context, api client.APIClient, name string) error {
	var o client.ImagePullOptions
	if _, auth, err := testcontainers.DockerImageAuth(ctx, name); err == nil {
		if o.RegistryAuth, err = authconfig.Encode(auth); err != nil {
			return err
		}
	}
	res, err := api.ImagePull(ctx, name, o)
	if err != nil {
		return err
	}
	return errors.Join(res.Wait(ctx), res.Close())
}
