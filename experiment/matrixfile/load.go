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
	src, err := read(path)
	if err != nil {
		if inner, ok := errors.AsType[*fs.PathError](err); ok {
			err = inner.Err // the path stands before it
		}
		return nil, &experiment.FieldError{At: experiment.Pos{File: path}, Err: err}
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("read matrix %s: %w", path, err)
	}
	return Parse(path, dir, src)
}

func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("a directory, not a matrix file")
	case !info.Mode().IsRegular(): // a pipe would be waited for, a device has no end
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxBytes+1))
}

// Parse is Load for text that is already there: file names it in messages, dir is
// the absolute directory where the relative paths of the matrix start.
func Parse(file, dir string, src []byte) (*experiment.Matrix, error) {
	root, fault := parseTree(file, src)
	if fault != nil {
		return nil, fault
	}
	r := &reader{file: file, lines: strings.Split(string(src), "\n"), places: map[string]experiment.Pos{}}
	m := r.matrix(r.convert(root, "", 0))
	sum := sha256.Sum256(src)
	m.Origin = experiment.Origin{File: file, Dir: dir, SHA256: hex.EncodeToString(sum[:]), Source: string(src)}

	faults := slices.Clone(r.faults)
	if !r.broken() {
		for _, f := range experiment.FieldErrors(m.Validate()) {
			if at, exact := r.place(f.Path); exact || f.At.Line == 0 {
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
