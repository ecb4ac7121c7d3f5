package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/containerd/platforms"
	"github.com/moby/moby/api/pkg/authconfig"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/gobuild"
)

// Repository is where images of builds are kept, tagged by their content.
const Repository = "ceteris/local"

// Prepare makes every distinct source of the services ready to be launched: an
// image is present or pulled, a Go package is compiled, if need be, and loaded as an
// image FROM scratch, a Dockerfile is built. It gives the image ID of each source. What was prepared
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
		if err := checkPaths(s); err != nil {
			return nil, fmt.Errorf("prepare service %s: %w", s.Name, err)
		}
		id, ok := r.image(s)
		if !ok {
			began := time.Now()
			if id, err = r.prepare(ctx, api, s, host.Arch); err != nil {
				return nil, fmt.Errorf("prepare service %s: %w", s.Name, err)
			}
			r.log.Debug("image ready", "source", s.Source(), "id", id, "took", time.Since(began))
		}
		foreign, err := foreignPlatform(ctx, api, id, host.Arch)
		if err != nil {
			return nil, fmt.Errorf("prepare service %s: %w", s.Name, err)
		}
		out[s.Source()] = experiment.ImageFor(id, foreign)
		r.mu.Lock()
		r.images[imageKey(s)] = id
		r.mu.Unlock()
	}
	return out, nil
}

// image gives the image of a service that was prepared.
func (r *Runner) image(s experiment.Service) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id, ok := r.images[imageKey(s)]
	return id, ok
}

// imageKey tells images of one source for several platforms apart.
func imageKey(s experiment.Service) string {
	return strings.TrimSpace(s.Source() + " " + s.Container.Platform)
}

func (r *Runner) prepare(ctx context.Context, api client.APIClient, s experiment.Service, arch string) (string, error) {
	wanted, err := parsePlatform(s.Container.Platform)
	if err != nil {
		return "", err
	}
	switch {
	case s.Build != nil && s.Build.Context != "":
		return r.buildContext(ctx, api, *s.Build, wanted)
	case s.Build != nil:
		for _, p := range wanted {
			arch = p.Architecture
		}
		binary, err := r.builder.Binary(ctx, *s.Build, "linux", arch)
		if err != nil {
			return "", err
		}
		return loadScratch(ctx, api, binary, arch)
	case s.Image != "":
		return findOrPull(ctx, api, s.Image, wanted)
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

// parsePlatform reads a platform as in linux/amd64; none if it is empty.
func parsePlatform(name string) ([]platforms.Platform, error) {
	if name == "" {
		return nil, nil
	}
	p, err := platforms.Parse(name)
	if err != nil {
		return nil, fmt.Errorf("platform %s: %w", name, err)
	}
	return []platforms.Platform{p}, nil
}

// foreignPlatform names the platform of an image that the host's processors do not speak,
// so that it is emulated; empty if they do. Those of 64 bits speak what came before them.
func foreignPlatform(ctx context.Context, api client.APIClient, id, arch string) (string, error) {
	image, err := api.ImageInspect(ctx, id)
	if err != nil {
		return "", fmt.Errorf("look at image %s: %w", id, err)
	}
	older := map[string]string{"amd64": "386", "arm64": "arm"}
	if image.Architecture == "" || image.Architecture == arch || image.Architecture == older[arch] {
		return "", nil
	}
	return image.Os + "/" + image.Architecture, nil
}

// fits reports whether an image is for the platform that is wanted, if any.
func fits(image client.ImageInspectResult, wanted []platforms.Platform) bool {
	for _, p := range wanted {
		if image.Os != p.OS || image.Architecture != p.Architecture {
			return false
		}
	}
	return true
}

func findOrPull(ctx context.Context, api client.APIClient, name string, wanted []platforms.Platform) (string, error) {
	found, err := api.ImageInspect(ctx, name)
	if err == nil && fits(found, wanted) {
		return found.ID, nil
	}
	if err != nil && !errdefs.IsNotFound(err) {
		return "", fmt.Errorf("look for image %s: %w", name, err)
	}
	if err := pull(ctx, api, name, wanted); err != nil {
		return "", experiment.WithHint(fmt.Errorf("image %s%s is not on the engine and cannot be pulled: %w", name, of(wanted), err),
			"docker pull "+name+" or docker load it; check the name")
	}
	if found, err = api.ImageInspect(ctx, name); err != nil {
		return "", fmt.Errorf("look for image %s: %w", name, err)
	}
	if !fits(found, wanted) {
		return "", fmt.Errorf("image %s%s: what was pulled is for %s/%s", name, of(wanted), found.Os, found.Architecture)
	}
	return found.ID, nil
}

// of names a platform in messages, if one is wanted.
func of(wanted []platforms.Platform) string {
	for _, p := range wanted {
		return " for " + platforms.Format(p)
	}
	return ""
}

// pull tries once, with the caller's credentials for the registry if there are
// any: the library would go on for a quarter of an hour.
func pull(ctx context.Context, api client.APIClient, name string, wanted []platforms.Platform) error {
	o := client.ImagePullOptions{Platforms: wanted}
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
