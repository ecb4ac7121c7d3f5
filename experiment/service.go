package experiment

import (
	"fmt"
	"strings"
	"time"
)

// ServiceRole decides where a service is pinned and whose CPU counts.
type ServiceRole string

// The roles. Links are served on the cores of the subject.
const (
	RoleSubject ServiceRole = "subject"
	RoleBacking ServiceRole = "backing"
	RoleLoad    ServiceRole = "load"
)

// Reserved names of what is measured beside the services of a matrix.
const (
	GeneratorName = "generator"
	LinkProxyName = "linkproxy"
	EngineName    = "engine"
	HostName      = "host"
	ConductorName = "conductor"
)

// Service is a service of one cell, ready to be launched: factors are resolved.
// References to its own ports (and, before launch, to addresses) may be left;
// the runner resolves its own ports.
type Service struct {
	Name    string
	Image   string // exactly one of Image, Build and (process only) Command alone
	Build   *Build
	Command []Template
	Env     []EnvVar
	Ports   []int
	Needs   []string
	Ready   *Step
	Limits  Limits
	Role    ServiceRole
	Cores   CoreSet // empty: not pinned
	Confirm []Step

	Files     []File
	Container Container // what only containers have
	Mounts    []Mount
	Volumes   []Volume
	Job       bool          // ends by itself: launched is not ready, and its end is waited for
	JobWithin time.Duration // 0: DefaultJobWithin
	Replicas  int           // copies behind one name; 0 and 1: one
	Alias     string        // the name behind which a replica stands, beside its own; empty: none
	Prepare   Preparation
	Collect   []Collect
	Scrape    []Scrape
	Output    string `json:",omitempty"` // absolute path of a file that the service writes; its directory is there under the process runner

	// StopTimeout is how long a service may take after SIGTERM before it is
	// killed; zero means the runner's default of 2 s.
	StopTimeout time.Duration
}

// Build says where a program comes from: a Go package main to compile, an
// executable that exists, or a Dockerfile. Paths are absolute. A build of the first
// two is the whole program: Command holds its arguments.
type Build struct {
	Go         string     // directory of a package main
	Binary     string     // path of a static executable
	Context    string     // directory of a build context
	Dockerfile string     // path inside the context
	Args       []KeyValue // build arguments
	Before     []string   // command run in Context first, on this host
}

// File is a file of a service: at Path in a container, in the run's own directory
// under the process runner. References to addresses and own ports may be left.
type File struct {
	Path    string // absolute
	Content Template
}

// Container is what only containers have.
type Container struct {
	Tmpfs    []string // "/path" or "/path:OPTIONS"
	ShmSize  int64    // bytes; 0: the engine's default
	Ulimits  []UlimitValue
	Sysctls  []KeyValue
	CapAdd   []string
	Platform string
	User     string
}

// UlimitValue is a limit of every process; -1 means unlimited.
type UlimitValue struct {
	Name       string
	Soft, Hard int64
}

// Mount puts a path of the engine's host into a container.
type Mount struct {
	Source, Target string // absolute
	ReadOnly       bool
}

// Limits of a service. Zero means none.
type Limits struct {
	CPUs   float64 // processors
	Memory int64   // bytes
	PIDs   int64   // processes and threads
}

// Source names what the service runs, as a key for Images.
func (s Service) Source() string {
	switch {
	case s.Build != nil && s.Build.Binary != "":
		return "binary:" + s.Build.Binary
	case s.Build != nil && s.Build.Context != "":
		return s.Build.context()
	case s.Build != nil:
		return "go:" + s.Build.Go
	case s.Image != "":
		return "image:" + s.Image
	default:
		return "command"
	}
}

// context names a build from a Dockerfile: two with other arguments are two images.
func (b *Build) context() string {
	name := "context:" + b.Context
	if b.Dockerfile != "" {
		name += "#" + b.Dockerfile
	}
	var args strings.Builder
	for _, a := range b.Args {
		args.WriteString(" " + a.Key + "=" + a.Value)
	}
	return name + args.String()
}

// Images maps Service.Source to the identity of what really runs: an image ID,
// or the digest of an executable.
type Images map[string]string

// Resolve replaces references in all texts of the service.
func (s Service) Resolve(f func(Ref) (string, bool)) Service {
	s.Command = resolveAll(s.Command, f)
	env := make([]EnvVar, len(s.Env))
	for i, e := range s.Env {
		env[i] = EnvVar{Name: e.Name, Value: e.Value.Resolve(f)}
	}
	s.Env = env
	if s.Ready != nil {
		ready := s.Ready.Resolve(f)
		s.Ready = &ready
	}
	confirm := make([]Step, len(s.Confirm))
	for i, c := range s.Confirm {
		confirm[i] = c.Resolve(f)
	}
	s.Confirm = confirm
	files := make([]File, len(s.Files))
	for i, file := range s.Files {
		files[i] = File{Path: file.Path, Content: file.Content.Resolve(f)}
	}
	s.Files = files
	s.Prepare.Steps = resolveSteps(s.Prepare.Steps, f)
	s.Collect = ResolveCollect(s.Collect, f)
	scrape := make([]Scrape, len(s.Scrape))
	for i, sc := range s.Scrape {
		sc.URL = sc.URL.Resolve(f)
		scrape[i] = sc
	}
	s.Scrape = scrape
	return s
}

// ResolveCollect replaces references in the texts of the steps.
func ResolveCollect(all []Collect, f func(Ref) (string, bool)) []Collect {
	if all == nil {
		return nil
	}
	out := make([]Collect, len(all))
	for i, c := range all {
		c.Step = c.Resolve(f)
		out[i] = c
	}
	return out
}

// Texts gives the command and environment ("NAME=value") of a service in which
// no reference is left. An unresolved reference is an error that names it.
func (s Service) Texts() (argv, env []string, err error) {
	for _, t := range s.Command {
		text, ok := t.Literal()
		if !ok {
			return nil, nil, fmt.Errorf("service %s: command: %s is not resolved", s.Name, t.Refs()[0])
		}
		argv = append(argv, text)
	}
	for _, e := range s.Env {
		text, ok := e.Value.Literal()
		if !ok {
			return nil, nil, fmt.Errorf("service %s: env %s: %s is not resolved", s.Name, e.Name, e.Value.Refs()[0])
		}
		env = append(env, e.Name+"="+text)
	}
	return argv, env, nil
}

// FileTexts gives the content of each file of a service in which no reference is
// left, by path. An unresolved reference is an error that names it.
func (s Service) FileTexts() (map[string]string, error) {
	texts := make(map[string]string, len(s.Files))
	for _, f := range s.Files {
		text, ok := f.Content.Literal()
		if !ok {
			return nil, fmt.Errorf("service %s: file %s: %s is not resolved", s.Name, f.Path, f.Content.Refs()[0])
		}
		texts[f.Path] = text
	}
	return texts, nil
}

// Link is a link of one cell.
type Link struct {
	From, To string
	Port     int
	Latency  time.Duration // added to every reply
}
