package docker

import (
	"context"
	"fmt"

	"github.com/containerd/errdefs"

	"github.com/ceteris/ceteris/experiment"
)

// Missing names the images of the services that the engine lacks, each once, in
// their order: Prepare would pull them. It only looks.
func (r *Runner) Missing(ctx context.Context, all []experiment.Service) ([]string, error) {
	api, err := r.client()
	if err != nil {
		return nil, err
	}
	var out []string
	asked := map[string]bool{}
	for _, s := range all {
		if s.Image == "" || asked[s.Image] {
			continue
		}
		asked[s.Image] = true
		_, err := api.ImageInspect(ctx, s.Image)
		switch {
		case errdefs.IsNotFound(err):
			out = append(out, s.Image)
		case err != nil:
			return nil, fmt.Errorf("look for image %s: %w", s.Image, err)
		}
	}
	return out, nil
}
