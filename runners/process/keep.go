package process

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

var _ experiment.VolumeKeeper = (*env)(nil)

// SaveVolumes implements experiment.VolumeKeeper: directories, files and symbolic
// links, with owners, modes and times. Sockets and pipes are left out: they mean nothing
// without the process that made them.
func (e *env) SaveVolumes(ctx context.Context, service string, w io.Writer) error {
	e.mu.Lock()
	p := e.procs[service]
	e.mu.Unlock()
	err := errors.New("it was not started and stopped")
	if p != nil {
		if _, gone := p.gone(); gone {
			err = e.pack(ctx, p.service, w)
		}
	}
	if err != nil {
		return fmt.Errorf("save volumes of service %s: %w", service, err)
	}
	return nil
}

func (e *env) pack(ctx context.Context, s experiment.Service, w io.Writer) error {
	if len(s.Volumes) == 0 {
		return errors.New("it has none")
	}
	out := tar.NewWriter(w)
	for _, v := range s.Volumes {
		dir := e.volume(v.Name)
		err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
			if err = errors.Join(err, ctx.Err()); err != nil {
				return err
			}
			return packFile(out, file, path.Join(v.Name, strings.TrimPrefix(file, dir)), d)
		})
		if err != nil {
			return err
		}
	}
	return out.Close()
}

func packFile(out *tar.Writer, file, name string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	var link string
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		if link, err = os.Readlink(file); err != nil {
			return err
		}
	case !mode.IsDir() && !mode.IsRegular():
		return nil
	}
	h, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	h.Name, h.Format = name, tar.FormatPAX // times to the nanosecond
	if err := out.WriteHeader(h); err != nil || !info.Mode().IsRegular() {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(out, f)
	return err
}

// RestoreVolumes implements experiment.VolumeKeeper. The volumes are made anew:
// whatever was in them is gone. It is an error if another service that lives has one of
// them.
func (e *env) RestoreVolumes(ctx context.Context, s experiment.Service, r io.Reader) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	err := e.makeRoom(s.Name)
	if err == nil {
		err = e.unpack(ctx, s, r)
	}
	if err != nil {
		return fmt.Errorf("restore volumes of service %s: %w", s.Name, err)
	}
	return nil
}

func (e *env) unpack(ctx context.Context, s experiment.Service, r io.Reader) error {
	if len(s.Volumes) == 0 {
		return errors.New("it has none")
	}
	for _, v := range s.Volumes {
		if user, ok := e.userOf(v.Name); ok {
			return fmt.Errorf("service %s uses volume %s", user, v.Name)
		}
		if err := errors.Join(os.RemoveAll(e.volume(v.Name)), os.MkdirAll(e.volume(v.Name), 0o755)); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(filepath.Join(e.files.dir, volumesDir)) // nothing is written outside
	if err != nil {
		return err
	}
	defer root.Close()
	var dirs []*tar.Header
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		h.Name = path.Clean(h.Name)
		volume, _, _ := strings.Cut(h.Name, "/")
		switch {
		case h.Name == ".":
			continue
		case !slices.ContainsFunc(s.Volumes, func(v experiment.Volume) bool { return v.Name == volume }):
			return fmt.Errorf("%s is in none of them", h.Name)
		case h.Typeflag == tar.TypeDir:
			dirs = append(dirs, h)
		}
		if err := unpackFile(root, h, in); err != nil {
			return err
		}
	}
	// A directory may forbid to write in it.
	for _, h := range slices.Backward(dirs) {
		if err := dress(root, h); err != nil {
			return err
		}
	}
	return nil
}

// userOf names a service that lives and has the volume.
func (e *env) userOf(volume string) (string, bool) {
	for name, p := range e.procs {
		_, gone := p.gone()
		if !gone && slices.ContainsFunc(p.service.Volumes, func(v experiment.Volume) bool { return v.Name == volume }) {
			return name, true
		}
	}
	return "", false
}

func unpackFile(root *os.Root, h *tar.Header, content io.Reader) error {
	switch h.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(h.Name, 0o700)
	case tar.TypeSymlink:
		if err := root.Symlink(h.Linkname, h.Name); err != nil {
			return err
		}
		return own(root, h)
	case tar.TypeLink:
		return root.Link(path.Clean(h.Linkname), h.Name)
	case tar.TypeReg:
		f, err := root.OpenFile(h.Name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, content)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		return dress(root, h)
	default:
		return fmt.Errorf("%s is neither a file nor a directory nor a link", h.Name)
	}
}

// dress gives a file its owner, mode and time back.
func dress(root *os.Root, h *tar.Header) error {
	if err := own(root, h); err != nil {
		return err
	}
	return errors.Join(root.Chmod(h.Name, h.FileInfo().Mode()), root.Chtimes(h.Name, h.ModTime, h.ModTime))
}

// own gives a file its owner back, which only root may do.
func own(root *os.Root, h *tar.Header) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return root.Lchown(h.Name, h.Uid, h.Gid)
}
