package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/containerd/platforms"
	"github.com/moby/moby/api/types/build"
	"github.com/moby/moby/api/types/jsonstream"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/hostcmd"
)

// buildContext builds the image of a Dockerfile, after the command that comes before
// it, and gives its ID. The engine's first builder does it, which every engine has. The
// image has a tag of its source, so that it is not pruned while a sweep runs and its
// successor replaces it.
func (r *Runner) buildContext(ctx context.Context, api client.APIClient, b experiment.Build, wanted []platforms.Platform) (string, error) {
	if len(b.Before) > 0 {
		began := time.Now()
		if err := runBefore(ctx, b.Context, b.Before); err != nil {
			return "", err
		}
		r.log.Debug("command before the build done", "command", b.Before, "took", time.Since(began))
	}
	source := experiment.Service{Build: &b}.Source()
	req := testcontainers.ContainerRequest{FromDockerfile: testcontainers.FromDockerfile{
		Context: b.Context, Dockerfile: b.Dockerfile, BuildArgs: map[string]*string{},
		Repo: Repository, Tag: "context-" + experiment.HashJSON(source)[:12], KeepImage: true,
	}}
	for _, a := range b.Args {
		req.BuildArgs[a.Key] = &a.Value
	}
	o, err := req.BuildOptions() // credentials, and the archive without what .dockerignore names
	if err != nil {
		return "", fmt.Errorf("build %s: %w", b.Context, err)
	}
	if archive, ok := o.Context.(io.Closer); ok {
		defer func() { _ = archive.Close() }() // only read
	}
	o.Version, o.Platforms = build.BuilderV1, wanted
	res, err := api.ImageBuild(ctx, o.Context, o)
	if err != nil {
		return "", fmt.Errorf("build %s: %w", b.Context, err)
	}
	defer func() { _ = res.Body.Close() }() // only read
	id, err := readBuild(res.Body)
	if err != nil {
		return "", fmt.Errorf("build %s: %w", b.Context, errors.Join(ctx.Err(), err))
	}
	return id, nil
}

// readBuild reads the engine's report of a build to its end and gives the image's ID.
// The error of a build that failed holds the step and the last lines of its output.
func readBuild(r io.Reader) (id string, err error) {
	var step string
	var out tail
	for messages := json.NewDecoder(r); ; {
		var m jsonstream.Message
		err := messages.Decode(&m)
		switch {
		case errors.Is(err, io.EOF) && id == "":
			return "", errors.New("the engine names no image")
		case errors.Is(err, io.EOF):
			return id, nil
		case err != nil:
			return "", err
		case m.Error != nil:
			return "", fmt.Errorf("%s%w%s", step, m.Error, out.quote())
		case m.Aux != nil:
			var made struct{ ID string }
			if json.Unmarshal(*m.Aux, &made) == nil && made.ID != "" {
				id = made.ID
			}
		case strings.HasPrefix(m.Stream, "Step "):
			step, out = strings.TrimSpace(m.Stream)+": ", tail{}
		case strings.HasPrefix(m.Stream, " ---> "), strings.HasPrefix(m.Stream, "Removing intermediate container "):
			// what the builder itself says of a step
		default:
			_, _ = out.Write([]byte(m.Stream)) // never fails
		}
	}
}

// runBefore runs a command on this host in the directory of a build context, with the
// environment of ceteris, as its author would.
func runBefore(ctx context.Context, dir string, argv []string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PWD="+dir)
	cmd.WaitDelay = time.Second
	var out tail
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := hostcmd.Run(cmd); err != nil {
		return fmt.Errorf("before the build of %s: %s: %w%s", dir, strings.Join(argv, " "), errors.Join(ctx.Err(), err), out.quote())
	}
	return nil
}

// tail keeps the end of what is written to it.
type tail struct{ end []byte }

func (t *tail) Write(b []byte) (int, error) {
	const most = 4 << 10
	t.end = append(t.end, b...)
	t.end = t.end[max(0, len(t.end)-most):]
	return len(b), nil
}

// quote gives the last lines for a message, if there are any.
func (t *tail) quote() string {
	const most = 20
	text := strings.TrimSpace(strings.ToValidUTF8(string(t.end), ""))
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	return "; its last output:\n" + strings.Join(lines[max(0, len(lines)-most):], "\n")
}
