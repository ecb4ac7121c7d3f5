// Package compose turns a compose file into a matrix to go on from: services with
// what both languages can say, a load on the first published port, and a place for
// factors. What a matrix cannot hold is named, with the reason, never passed over.
//
// The reading is compose-go's, the reference implementation: several forms of one
// key, env files, extends and anchors are resolved by it. Variables are not: their
// default is taken, and one without becomes ${env:NAME}, so that no secret of the
// caller's environment gets into the text.
package compose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/template"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/sirupsen/logrus"
	"go.yaml.in/yaml/v3"
)

// Matrix is the outcome of a conversion.
type Matrix struct {
	Text    string   // the matrix file
	Dropped []string // what it leaves out: "services.web.restart: why"
}

// Convert reads the compose file at path. Relative paths of the matrix start at the
// same directory.
func Convert(ctx context.Context, path string) (Matrix, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Matrix{}, err
	}
	logrus.SetLevel(logrus.ErrorLevel) // compose-go warns of old keys on standard error
	options, err := cli.NewProjectOptions([]string{path},
		cli.WithName("compose"), cli.WithResolvedPaths(false), cli.WithNormalization(false), cli.WithConsistency(false),
		cli.WithProfiles([]string{"*"}), cli.WithoutEnvironmentResolution,
		cli.WithLoadOptions(func(o *loader.Options) {
			if o.Interpolate != nil {
				o.Interpolate.Substitute = substitute
			}
		}))
	if err != nil {
		return Matrix{}, err
	}
	project, err := options.LoadProject(ctx)
	if err != nil {
		return Matrix{}, err
	}
	if len(project.Services) == 0 {
		return Matrix{}, errors.New("there is no service")
	}
	c := converter{project: project, dir: filepath.Dir(path)}
	if err := c.noteUnread(raw); err != nil {
		return Matrix{}, err
	}
	text, err := c.matrix(name(path))
	if err != nil {
		return Matrix{}, err
	}
	slices.Sort(c.dropped)
	return Matrix{Text: text, Dropped: slices.Compact(c.dropped)}, nil
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(?:(:?[-?+])([^{}]*))?\}|\$([A-Za-z_][A-Za-z0-9_]*)`)

// Stand-ins while a text is worked on: for "$$", and for the ends of ${env:NAME}.
const (
	escaped = "\x00"
	begin   = "\x01"
	end     = "\x02"
)

// substitute takes the default of a variable, which may hold others; one without
// stays a reference to the caller's environment.
func substitute(text string, _ template.Mapping) (string, error) {
	text = strings.ReplaceAll(text, "$$", escaped)
	for next := ""; ; text = next {
		if next = variable.ReplaceAllStringFunc(text, value); next == text {
			break
		}
	}
	return strings.NewReplacer(escaped+"{", "$${", escaped, "$", begin, "${env:", end, "}").Replace(text), nil
}

func value(reference string) string {
	m := variable.FindStringSubmatch(reference)
	switch {
	case strings.HasSuffix(m[2], "-"):
		return m[3]
	case strings.HasSuffix(m[2], "+"):
		return ""
	default:
		return begin + cmp.Or(m[1], m[4]) + end
	}
}

var word = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// name makes a name for the matrix from that of the directory.
func name(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	n := strings.Trim(word.ReplaceAllString(filepath.Base(filepath.Dir(abs)), "-"), "-0123456789")
	if len(n) > 40 {
		n = n[:40]
	}
	return cmp.Or(n, "compose")
}

// converter makes a matrix of a project.
type converter struct {
	project *types.Project
	dir     string
	dropped []string
}

func (c *converter) drop(path, format string, a ...any) {
	c.dropped = append(c.dropped, path+": "+fmt.Sprintf(format, a...))
}

// read are the keys of a service that are looked at.
func read() []string {
	return []string{
		"image", "build", "command", "entrypoint", "environment", "env_file", "ports", "expose", "depends_on", "healthcheck",
		"deploy", "cpus", "mem_limit", "pids_limit", "scale", "tmpfs", "shm_size", "ulimits", "sysctls", "cap_add", "platform",
		"user", "volumes", "privileged", "network_mode", "extends",
	}
}

// reasons say why some keys have no place in a matrix.
func reasons() map[string]string {
	return map[string]string{
		"restart":        "a service that ends ends its run",
		"container_name": "each run has containers of its own",
		"hostname":       "services are reached by their names",
		"networks":       "all services of a run share one network",
		"profiles":       "all services are taken",
		"logging":        "logs are kept by ceteris",
		"secrets":        "use files, or ${env:NAME}",
		"configs":        "use files: {/path: text}",
		"labels":         "labels are ceteris' own",
		"devices":        "a run must not depend on the host's devices",
		"pid":            "sharing the host's processes is refused",
		"ipc":            "sharing with the host is refused",
	}
}

// noteUnread names the keys of the file that nothing looks at.
func (c *converter) noteUnread(raw []byte) error {
	var file struct {
		Services map[string]map[string]yaml.Node `yaml:"services"`
		Rest     map[string]yaml.Node            `yaml:",inline"`
	}
	if err := yaml.Unmarshal(raw, &file); err != nil {
		return err
	}
	for key := range file.Rest {
		if key != "version" && key != "name" && key != "volumes" && !strings.HasPrefix(key, "x-") {
			c.drop(key, "%s", cmp.Or(reasons()[key], "a matrix has no such part"))
		}
	}
	for service, keys := range file.Services {
		for key := range keys {
			if !slices.Contains(read(), key) && !strings.HasPrefix(key, "x-") && key != "<<" {
				c.drop("services."+service+"."+key, "%s", cmp.Or(reasons()[key], "a matrix has no such key"))
			}
		}
	}
	return nil
}
