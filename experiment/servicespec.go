package experiment

import "time"

// Subject is the system under test: services in order of declaration, and the
// links between them.
type Subject struct {
	Services []ServiceSpec `json:"services"`
	Links    []LinkSpec    `json:"links,omitempty"`
}

// ServiceSpec declares a service. Exactly one of Image and Build is set, once
// process overrides are applied.
type ServiceSpec struct {
	Name    string       `json:"name"`
	Image   Template     `json:"image,omitzero"`
	Build   *BuildSpec   `json:"build,omitempty"`
	Command []Template   `json:"command,omitempty"`
	Env     []EnvVar     `json:"env,omitempty"` // in order of declaration
	Ports   []int        `json:"ports,omitempty"`
	Needs   []string     `json:"needs,omitempty"`
	Ready   *Step        `json:"ready,omitempty"`
	Limits  LimitsSpec   `json:"limits,omitzero"`
	Role    ServiceRole  `json:"role"` // filled: subject for the load's target, else backing
	Confirm []Step       `json:"confirm,omitempty"`
	Process *ProcessSpec `json:"process,omitempty"`

	Files     []FileSpec    `json:"files,omitempty"`
	Container ContainerSpec `json:"container,omitzero"`
	Mounts    []MountSpec   `json:"mounts,omitempty"`
	Volumes   []Volume      `json:"volumes,omitempty"`
	Only      []Only        `json:"only,omitempty"`
	Job       bool          `json:"job,omitempty"`        // must end with 0 before its dependants start
	JobWithin time.Duration `json:"job_within,omitempty"` // 0: DefaultJobWithin
	Replicas  Template      `json:"replicas,omitzero"`    // copies behind one name; empty: 1
	Prepare   Preparation   `json:"prepare,omitzero"`
	Collect   []Collect     `json:"collect,omitempty"`
	Scrape    []Scrape      `json:"scrape,omitempty"`
	Output    string        `json:"output,omitempty"` // absolute path of a file that it writes (of the generator, its result); ${file:PATH} gives its path
	At        Pos           `json:"-"`
}

// Only says where something exists: in cells in which Factor has one of Levels.
// Several of them must all hold.
type Only struct {
	Factor string   `json:"factor"`
	Levels []string `json:"levels"`
	At     Pos      `json:"-"`
}

// FileSpec is a file that the service finds at Path, absolute. Under the process
// runner it lies elsewhere: ${file:PATH} gives its path in both.
type FileSpec struct {
	Path    string   `json:"path"`
	Content Template `json:"content"`
	At      Pos      `json:"-"`
}

// ContainerSpec is what only containers have, by compose's names.
type ContainerSpec struct {
	Tmpfs    []Template `json:"tmpfs,omitempty"`   // "/path" or "/path:size=64m"
	ShmSize  Template   `json:"shm_size,omitzero"` // a size
	Ulimits  []Ulimit   `json:"ulimits,omitempty"` //
	Sysctls  []EnvVar   `json:"sysctls,omitempty"` //
	CapAdd   []string   `json:"cap_add,omitempty"` //
	Platform Template   `json:"platform,omitzero"` // linux/amd64
	User     Template   `json:"user,omitzero"`     // name or uid, with :group if wanted
}

// Ulimit is a limit of every process of a container; Soft is at most Hard.
type Ulimit struct {
	Name string   `json:"name"`
	Soft Template `json:"soft"`
	Hard Template `json:"hard"`
}

// MountSpec puts a path of the engine's host, relative to the matrix file, into a
// container. It outlives runs.
type MountSpec struct {
	Source   Template `json:"source"`
	Target   string   `json:"target"`
	ReadOnly bool     `json:"read_only"`
	At       Pos      `json:"-"`
}

// Volume is a named volume that lives for one run, and may be shared by services.
type Volume struct {
	Name     string `json:"name"`
	Target   string `json:"target"` // absolute
	ReadOnly bool   `json:"read_only,omitempty"`
	At       Pos    `json:"-"`
}

// Preparation is what is done after the service is ready and before those that
// need it start. With Snapshot the volumes of the service are kept as they then are,
// and each later run of the same images, settings and steps restores a copy.
type Preparation struct {
	Steps    []Step `json:"steps,omitempty"`
	Snapshot bool   `json:"snapshot,omitempty"`
}

// Variant is subject and load as they are in cells in which the named factors have
// the named levels: levels with "set" put an overlay over what is declared. There is
// one for each combination of such levels that occurs in a cell.
type Variant struct {
	When    []Setting `json:"when"` // of every factor that has a level with set
	Subject Subject   `json:"subject"`
	Load    LoadSpec  `json:"load"`
}

// BuildSpec says what to build, once a sweep: a Go package main as a static binary,
// or an image from a Dockerfile. Exactly one of Go and Context is set. Paths are as
// written, relative to the matrix file.
type BuildSpec struct {
	Go         string   `json:"go,omitempty"`
	Context    string   `json:"context,omitempty"`
	Dockerfile string   `json:"dockerfile,omitempty"` // inside the context; empty: Dockerfile
	Args       []EnvVar `json:"args,omitempty"`
	Before     []string `json:"before,omitempty"` // command run in the context's directory first, on this host
	At         Pos      `json:"-"`
}

// EnvVar is one environment variable.
type EnvVar struct {
	Name  string   `json:"name"`
	Value Template `json:"value"`
}

// ProcessSpec is what the process runner takes instead. Nil and empty fields
// override nothing; Env is merged by name.
type ProcessSpec struct {
	Build   *BuildSpec `json:"build,omitempty"`
	Command []Template `json:"command,omitempty"`
	Env     []EnvVar   `json:"env,omitempty"`
	Ready   *Step      `json:"ready,omitempty"`
	Confirm []Step     `json:"confirm,omitempty"`
	Limits  LimitsSpec `json:"limits,omitzero"`
	Files   []FileSpec `json:"files,omitempty"` // merged by path
	At      Pos        `json:"-"`
}

// LimitsSpec declares limits: processors ("1", "0.5"), a size, a count. Empty
// means none.
type LimitsSpec struct {
	CPUs   Template `json:"cpus,omitzero"`
	Memory Template `json:"memory,omitzero"`
	PIDs   Template `json:"pids,omitzero"`
}

// LinkSpec declares that From reaches port Port of To through a proxy that adds
// Latency to every reply. It is in place in every cell, at zero latency too.
type LinkSpec struct {
	From    string   `json:"from"`
	To      string   `json:"to"`
	Port    int      `json:"port"`
	Latency Template `json:"latency"` // a duration; "0s" if not given
	At      Pos      `json:"-"`
}
