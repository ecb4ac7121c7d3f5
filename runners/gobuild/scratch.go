package gobuild

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// ScratchTar gives the build context (a tar in memory) of an image FROM scratch
// that holds the executable alone and starts it. The same executable always
// gives the same bytes, so that an engine's build cache works.
func ScratchTar(binary string) (io.Reader, error) {
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("build context: %w", err)
	}
	name := filepath.Base(binary)
	from, err1 := json.Marshal([]string{name, "/" + name})
	start, err2 := json.Marshal([]string{"/" + name})
	if err1 != nil || err2 != nil {
		return nil, fmt.Errorf("build context of %q: the name is not text", binary)
	}
	dockerfile := fmt.Appendf(nil, "FROM scratch\nCOPY %s\nENTRYPOINT %s\n", from, start)

	var buf bytes.Buffer
	buf.Grow(len(content) + 4096)
	w := tar.NewWriter(&buf)
	for _, f := range []struct {
		name    string
		mode    int64
		content []byte
	}{{"Dockerfile", 0o644, dockerfile}, {name, 0o755, content}} {
		h := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
		if err := w.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("build context of %s: %w", binary, err)
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, fmt.Errorf("build context of %s: %w", binary, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("build context of %s: %w", binary, err)
	}
	return &buf, nil
}

// elfMachine knows the processors for which an executable can be checked.
func elfMachine(goarch string) (elf.Machine, bool) {
	switch goarch {
	case "amd64":
		return elf.EM_X86_64, true
	case "arm64":
		return elf.EM_AARCH64, true
	default:
		return elf.EM_NONE, false
	}
}

// CheckStatic says why an executable could not run in an image FROM scratch of
// the architecture; nil if it can.
func CheckStatic(path, goarch string) error {
	f, err := elf.Open(path)
	if err != nil {
		return experiment.WithHint(fmt.Errorf("%s is no Linux executable: %w", path, err),
			"build it with CGO_ENABLED=0 GOOS=linux")
	}
	defer func() { _ = f.Close() }() // only read
	if want, known := elfMachine(goarch); known && f.Machine != want {
		return experiment.WithHint(fmt.Errorf("%s is for %s, the engine is %s", path, f.Machine, goarch),
			"build it with CGO_ENABLED=0 GOARCH="+goarch)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return experiment.WithHint(fmt.Errorf("%s is linked dynamically and cannot run alone in an image", path),
				"build it with CGO_ENABLED=0")
		}
	}
	return nil
}
