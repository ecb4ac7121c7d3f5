package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// putFiles copies the files of the service into its container, which has not started
// yet: one archive, so nothing of the image is needed for it. They belong to root and
// everybody may read them.
func (p *proc) putFiles(ctx context.Context) error {
	texts, err := p.service.FileTexts()
	if err != nil || len(texts) == 0 {
		return err
	}
	var dirs []string
	for file := range texts {
		missing, err := p.missingDirs(ctx, path.Dir(file))
		if err != nil {
			return fmt.Errorf("copy files: %w", err)
		}
		dirs = append(dirs, missing...)
	}
	slices.Sort(dirs) // parents first
	archive, err := filesArchive(slices.Compact(dirs), texts)
	if err != nil {
		return fmt.Errorf("copy files: %w", err)
	}
	if _, err := p.api.CopyToContainer(ctx, p.id, client.CopyToContainerOptions{DestinationPath: "/", Content: archive}); err != nil {
		return fmt.Errorf("copy files: %w", err)
	}
	return nil
}

// missingDirs gives the directory and its parents as far as the container lacks them.
// Left to the engine, they would be writable for everybody.
func (p *proc) missingDirs(ctx context.Context, dir string) ([]string, error) {
	var out []string
	for ; dir != "/" && dir != "."; dir = path.Dir(dir) {
		_, err := p.api.ContainerStatPath(ctx, p.id, client.ContainerStatPathOptions{Path: dir})
		switch {
		case err == nil:
			return out, nil
		case !errdefs.IsNotFound(err):
			return nil, err
		}
		out = append(out, dir)
	}
	return out, nil
}

func filesArchive(dirs []string, texts map[string]string) (*bytes.Buffer, error) {
	const dirMode, fileMode = 0o755, 0o644
	var buf bytes.Buffer
	now := time.Now()
	w := tar.NewWriter(&buf)
	for _, dir := range dirs {
		h := &tar.Header{Typeflag: tar.TypeDir, Name: dir[1:] + "/", Mode: dirMode, ModTime: now}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
	}
	for _, file := range slices.Sorted(maps.Keys(texts)) {
		text := texts[file]
		h := &tar.Header{Typeflag: tar.TypeReg, Name: file[1:], Mode: fileMode, Size: int64(len(text)), ModTime: now}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write([]byte(text)); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return &buf, err
}
