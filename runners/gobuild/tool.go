package gobuild

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

const (
	// LibexecEnv names the directory in which packagers put ceteris' own tools.
	LibexecEnv = "CETERIS_LIBEXEC"

	modulePath = "github.com/ceteris/ceteris"
)

// Tool finds one of ceteris' own programs (loadgen, linkproxy): in
// $CETERIS_LIBEXEC, else beside the running executable, else as a package of a
// checkout of this module. The checkout is looked for upwards from each
// directory of near (those of the matrices), then from the working directory,
// then from the executable's. Otherwise the error wraps
// experiment.ErrCannotRun and its hint holds the command that helps.
func Tool(name string, near ...string) (experiment.Build, error) {
	var home string
	if exe, err := os.Executable(); err == nil {
		home = filepath.Dir(exe)
	}
	for _, dir := range []string{os.Getenv(LibexecEnv), home} {
		if dir == "" {
			continue
		}
		path, err := filepath.Abs(filepath.Join(dir, name))
		if err == nil && checkExecutable(path) == nil {
			return experiment.Build{Binary: path}, nil
		}
	}
	starts := append([]string{}, near...)
	if wd, err := os.Getwd(); err == nil {
		starts = append(starts, wd)
	}
	for _, start := range append(starts, home) {
		if start == "" {
			continue
		}
		if dir, ok := checkoutPackage(start, name); ok {
			return experiment.Build{Go: dir}, nil
		}
	}
	return experiment.Build{}, experiment.WithHint(
		fmt.Errorf("find %s: not in $%s, not beside %s, no checkout of %s around: %w", name, LibexecEnv, home, modulePath, experiment.ErrCannotRun),
		fmt.Sprintf("in a checkout of %s: CGO_ENABLED=0 go build -o %s ./cmd/%s", modulePath, filepath.Join(home, name), name))
}

// checkoutPackage looks upwards from start for this module and gives the
// directory of the command in it.
func checkoutPackage(start, name string) (string, bool) {
	dir, err := filepath.Abs(start)
	if err != nil {
		return "", false
	}
	for {
		if declaresModule(filepath.Join(dir, "go.mod")) {
			pkg := filepath.Join(dir, "cmd", name)
			if info, err := os.Stat(pkg); err == nil && info.IsDir() {
				return pkg, true
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

func declaresModule(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) >= 2 && fields[0] == "module" {
			return strings.Trim(fields[1], `"`) == modulePath
		}
	}
	return false
}
