//go:build integration

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/moby/moby/client"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/docker"
)

// thing is something that a ceteris started and that is there.
type thing struct {
	kind    string // process, container or network
	id      string
	owner   experiment.Owner
	service string // empty for a network
	state   string
	ports   []string // HOST:PORT on which a process was told to listen
	volumes []string // anonymous ones of a container
}

// site is where services run, looked at without the help of a runner.
type site interface {
	things(t *testing.T) []thing
	// there gives those of the things that still are.
	there(t *testing.T, seen []thing) []thing
	// traces names what is left of things that are gone: files, ports, volumes.
	traces(t *testing.T, seen []thing) []string
}

// siteOf skips the test where the runner cannot work.
func siteOf(t *testing.T, runner string, s *sandbox) site {
	t.Helper()
	if runner == experiment.RunnerDocker {
		return dockerSite{engine(t)}
	}
	return processSite{filepath.Join(s.dir, "state", "ceteris")}
}

// ofChild are the things that a child started, ofDatabase those that all children on
// one database did.
func ofChild(all []thing, c *child) []thing {
	return slices.DeleteFunc(all, func(x thing) bool { return x.owner.PID != c.pid() })
}

func ofDatabase(all []thing, id string) []thing {
	return slices.DeleteFunc(all, func(x thing) bool { return x.owner.Database != id })
}

// of reports whether a service is among the things.
func of(all []thing, service string) bool {
	return slices.ContainsFunc(all, func(x thing) bool { return x.service == service })
}

// processSite looks at processes by the marker in their environment.
type processSite struct{ state string }

func (s processSite) things(t *testing.T) []thing {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var out []thing
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if x, ok := markedProcess(pid); ok {
			out = append(out, x)
		}
	}
	return out
}

// markedProcess reads the marker OWNER#SWEEP/RUN/SERVICE of a process that lives.
func markedProcess(pid int) (thing, bool) {
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return thing{}, false
	}
	x := thing{kind: "process"}
	for kv := range strings.SplitSeq(string(environ), "\x00") {
		name, value, _ := strings.Cut(kv, "=")
		switch name {
		case "LISTEN":
			x.ports = append(x.ports, value)
		case "CETERIS_RUN":
			owner, rest, _ := strings.Cut(value, "#")
			if x.owner, err = experiment.ParseOwner(owner); err != nil {
				return thing{}, false
			}
			x.service = rest[strings.LastIndexByte(rest, '/')+1:]
		}
	}
	start, err := experiment.ProcessStart(pid)
	if err != nil || x.service == "" {
		return thing{}, false
	}
	x.id = fmt.Sprintf("%d@%s", pid, start)
	return x, true
}

func (s processSite) there(_ *testing.T, seen []thing) []thing {
	return slices.DeleteFunc(slices.Clone(seen), func(x thing) bool { return !x.alive() })
}

// alive reports whether a process is still the one that was seen, and no zombie.
func (x thing) alive() bool {
	number, start, _ := strings.Cut(x.id, "@")
	pid, err := strconv.Atoi(number)
	if err != nil {
		return false
	}
	now, err := experiment.ProcessStart(pid)
	if err != nil || now != start {
		return false
	}
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && len(environ) > 0 // a zombie has none
}

func (s processSite) traces(t *testing.T, seen []thing) []string {
	t.Helper()
	var left []string
	for _, dir := range []string{"owners", "runs"} {
		entries, err := os.ReadDir(filepath.Join(s.state, dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		for _, e := range entries {
			left = append(left, "state: "+filepath.Join(dir, e.Name()))
		}
	}
	for _, x := range seen {
		for _, addr := range x.ports {
			if conn, err := net.Dial("tcp", addr); err == nil {
				_ = conn.Close()
				left = append(left, "port: "+addr+" of "+x.service)
			}
		}
	}
	return left
}

// nowhere is the site of a runner that starts nothing.
type nowhere struct{}

func (nowhere) things(*testing.T) []thing           { return nil }
func (nowhere) there(*testing.T, []thing) []thing   { return nil }
func (nowhere) traces(*testing.T, []thing) []string { return nil }

// dockerSite looks at containers and networks by their labels.
type dockerSite struct{ api *client.Client }

func (s dockerSite) things(t *testing.T) []thing {
	t.Helper()
	filter := client.Filters{}.Add("label", docker.LabelOwner)
	containers, err := s.api.ContainerList(t.Context(), client.ContainerListOptions{All: true, Filters: filter})
	if err != nil {
		t.Fatal(err)
	}
	networks, err := s.api.NetworkList(t.Context(), client.NetworkListOptions{Filters: filter})
	if err != nil {
		t.Fatal(err)
	}
	var out []thing
	add := func(x thing, owner string) {
		if o, err := experiment.ParseOwner(owner); err == nil {
			x.owner = o
			out = append(out, x)
		}
	}
	for _, c := range containers.Items {
		x := thing{kind: "container", id: c.ID, service: c.Labels[docker.LabelService], state: string(c.State)}
		for _, m := range c.Mounts {
			if m.Type == "volume" {
				x.volumes = append(x.volumes, m.Name)
			}
		}
		add(x, c.Labels[docker.LabelOwner])
	}
	for _, n := range networks.Items {
		add(thing{kind: "network", id: n.Name}, n.Labels[docker.LabelOwner])
	}
	return out
}

func (s dockerSite) there(t *testing.T, seen []thing) []thing {
	t.Helper()
	now := s.things(t)
	return slices.DeleteFunc(slices.Clone(seen), func(x thing) bool {
		return !slices.ContainsFunc(now, func(y thing) bool { return x.id == y.id })
	})
}

func (s dockerSite) traces(t *testing.T, seen []thing) []string {
	t.Helper()
	var left []string
	for _, x := range seen {
		for _, v := range x.volumes {
			if _, err := s.api.VolumeInspect(t.Context(), v, client.VolumeInspectOptions{}); err == nil {
				left = append(left, "volume: "+v+" of "+x.service)
			}
		}
	}
	return left
}
