package matrixfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// MaxBytes is the largest matrix file that is read.
const MaxBytes = 1 << 20

// Load reads, fills in defaults and validates the matrix in the named file. The
// faults of the matrix are *experiment.FieldError, joined and sorted by position. A
// file that cannot be read is such a fault, too, of the file as a whole.
func Load(path string) (*experiment.Matrix, error) {
	src, err := read(path, "a matrix file", MaxBytes+1) // one more, for the message
	if err != nil {
		return nil, &experiment.FieldError{At: experiment.Pos{File: path}, Err: err}
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("read matrix %s: %w", path, err)
	}
	return Parse(path, dir, src)
}

// read gives the first bytes of a regular file. Errors are without its path.
func read(path, what string, most int64) ([]byte, error) {
	f, err := open(path, what)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// open opens a regular file.
func open(path, what string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		if inner, ok := errors.AsType[*fs.PathError](err); ok {
			err = inner.Err // who asks knows the path
		}
		return nil, err
	}
	switch {
	case info.IsDir():
		return nil, fmt.Errorf("a directory, not %s", what)
	case !info.Mode().IsRegular(): // a pipe would be waited for, a device has no end
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	return f, err
}

// Parse is Load for text that is already there: file names it in messages, dir is
// the absolute directory where the relative paths of the matrix start.
func Parse(file, dir string, src []byte) (*experiment.Matrix, error) {
	root, fault := parseTree(file, src)
	if fault != nil {
		return nil, fault
	}
	r := &reader{
		file: file, dir: dir, lines: strings.Split(string(src), "\n"),
		places: map[string]experiment.Pos{}, feeds: map[string]*experiment.DataSpec{},
	}
	tree := r.convert(root, "", 0)
	locate(tree, r.places)
	m := r.matrix(tree)
	sum := sha256.Sum256(src)
	m.Origin = experiment.Origin{File: file, Dir: dir, SHA256: hex.EncodeToString(sum[:]), Source: string(src)}

	faults := slices.Clone(r.faults)
	if !r.broken() {
		for _, f := range experiment.FieldErrors(m.Validate()) {
			if at, exact := r.place(f.Path, f.Variant); exact || f.At.Line == 0 {
				f.At = at
			}
			if !r.explains(f) {
				faults = append(faults, f)
			}
		}
	}
	if err := experiment.JoinFieldErrors(faults); err != nil {
		return nil, err
	}
	return m, nil
}

// broken reports whether a whole part of the matrix is missing, so that what the
// others say about it means nothing.
func (r *reader) broken() bool {
	return slices.ContainsFunc(r.faults, func(f *experiment.FieldError) bool {
		switch f.Path {
		case "", "subject", "subject.services", "factors":
			return true
		default:
			return errors.Is(f, errUnknownField) && !strings.Contains(f.Path, ".")
		}
	})
}

// explains reports whether a fault of the half-read matrix only follows from what
// could not be read: the field itself, one above it, or something in the part in
// which the fault misses something.
func (r *reader) explains(f *experiment.FieldError) bool {
	return slices.ContainsFunc(r.faults, func(g *experiment.FieldError) bool {
		return within(f.Path, g.Path) || f.Lacking == "." ||
			f.Lacking != "" && (within(g.Path, f.Lacking) || within(f.Lacking, g.Path))
	})
}

// within reports whether path is the field above or lies below it.
func within(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && (above == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}
