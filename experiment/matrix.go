package experiment

import "time"

// MainStage is the stage of a matrix that declares none.
const MainStage = "main"

// Matrix is a declared experiment, defaults filled. Text keeps the form of the
// file: values that may hold references are Templates and are parsed to numbers
// only per cell (Plan).
type Matrix struct {
	Name     string     `json:"name"`
	Question string     `json:"question,omitempty"`
	Runner   string     `json:"runner"` // auto, docker or process; never auto once resolved
	Subject  Subject    `json:"subject"`
	Factors  []Factor   `json:"factors"`
	Control  bool       `json:"control"` // run the second copy of the baseline
	Load     LoadSpec   `json:"load"`
	Place    PlaceSpec  `json:"place"`
	Repeat   RepeatPlan `json:"repeat"`
	Judge    Settings   `json:"judge"`
	Origin   Origin     `json:"-"`
}

// Origin is where a matrix came from.
type Origin struct {
	File   string // as given on the command line
	Dir    string // absolute; relative paths of the matrix start here
	SHA256 string // of the file's bytes, hex
	Source string // the file's text
}

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
	At      Pos          `json:"-"`
}

// BuildSpec names a Go package main to build as a static binary. The path is as
// written, relative to the matrix file.
type BuildSpec struct {
	Go string `json:"go"`
	At Pos    `json:"-"`
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

// Factor is a setting to vary.
type Factor struct {
	Name     string  `json:"name"`
	Unit     string  `json:"unit,omitempty"`
	Levels   []Level `json:"levels"`   // in order of declaration, the baseline among them
	Baseline int     `json:"baseline"` // index into Levels
	At       Pos     `json:"-"`
}

// Level is one value of a factor, verbatim: 1.10 stays 1.10.
type Level struct {
	Text string `json:"text"`
	At   Pos    `json:"-"`
}

// LoadSpec declares the load. Exactly one of Closed and Open is set.
type LoadSpec struct {
	Service   string      `json:"service"` // the target: to: SERVICE:PORT
	Port      int         `json:"port"`
	Method    string      `json:"method"`
	Path      Template    `json:"path"`
	Closed    *ClosedSpec `json:"closed,omitempty"`
	Open      *OpenSpec   `json:"open,omitempty"`
	Ramp      Template    `json:"ramp"`
	Warmup    Template    `json:"warmup"`
	Measure   Template    `json:"measure"`
	Timeout   Template    `json:"timeout"`
	Connects  Template    `json:"connections,omitzero"` // empty: users (closed) or in_flight (open)
	KeepAlive bool        `json:"keep_alive"`
	At        Pos         `json:"-"`
}

// ClosedSpec is a fixed number of users, each waiting for its response and then
// for Think.
type ClosedSpec struct {
	Users Template `json:"users"`
	Think Template `json:"think"`
}

// OpenSpec is a constant arrival rate with at most InFlight requests under way;
// an arrival above that is dropped, and counted.
type OpenSpec struct {
	Rate     Template `json:"rate"` // as in 400/s
	InFlight Template `json:"in_flight"`
}

// PlaceSpec names core sets per role ("0", "1-3", "0,2") or "auto".
type PlaceSpec struct {
	Subject   string `json:"subject"`
	Backing   string `json:"backing"`
	Load      string `json:"load"`
	Conductor string `json:"conductor"`
	At        Pos    `json:"-"`
}

// RepeatPlan says how often. Rounds is at least 1.
type RepeatPlan struct {
	Rounds int    `json:"rounds"`
	Seed   uint64 `json:"seed"`
}

// Settings are the matrix's judge section, defaults filled.
type Settings struct {
	Metric        string                  `json:"metric"`         // the primary metric
	MinimumEffect float64                 `json:"minimum_effect"` // delta, a fraction; the band is [1/(1+delta), 1+delta]
	Confidence    float64                 `json:"confidence"`     // of intervals, 0.5 to 0.9999
	ErrorRate     float64                 `json:"error_rate"`     // above it: finding errors
	Guards        map[string]GuardSetting `json:"guards,omitempty"`
}

// GuardSetting turns a guard off or moves its threshold.
type GuardSetting struct {
	Off   bool     `json:"off,omitempty"`
	Above *float64 `json:"above,omitempty"`
}

// Defaults of the matrix language.
const (
	DefaultRounds        = 5
	DefaultSeed          = 1
	DefaultMetric        = "throughput"
	DefaultMinimumEffect = 0.03
	DefaultConfidence    = 0.95
	DefaultErrorRate     = 0.01
	DefaultGeneratorCPU  = 0.80 // share of its cores; above it: finding generator-cpu
	DefaultReadyWithin   = 60 * time.Second
	DefaultConfirmWithin = 10 * time.Second
	DefaultReadyPoll     = 5 * time.Millisecond
	DefaultInFlight      = 1000
	DefaultRamp          = "0s"
	DefaultWarmup        = "5s"
	DefaultMeasure       = "20s"
	DefaultTimeout       = "10s"
	DefaultThink         = "0s"
)

// ForRunner gives the matrix as the named runner executes it: process overrides
// are merged for "process" and dropped otherwise, so that they are no part of
// the identity of a sweep that does not use them.
func (m *Matrix) ForRunner(name string) *Matrix {
	out := *m
	out.Runner = name
	out.Subject.Services = make([]ServiceSpec, len(m.Subject.Services))
	for i, s := range m.Subject.Services {
		if name == RunnerProcess {
			s = s.overridden()
		}
		s.Process = nil
		out.Subject.Services[i] = s
	}
	return &out
}

// overridden merges the process form into the service.
func (s ServiceSpec) overridden() ServiceSpec {
	p := s.Process
	if p == nil {
		return s
	}
	if p.Build != nil {
		s.Build, s.Image = p.Build, Template{}
		s.Command = nil // the command of an image means nothing to another program
	}
	if p.Command != nil {
		s.Command = p.Command
		if p.Build == nil {
			s.Image = Template{}
		}
	}
	s.Env = mergeEnv(s.Env, p.Env)
	if p.Ready != nil {
		s.Ready = p.Ready
	}
	if p.Confirm != nil {
		s.Confirm = p.Confirm
	}
	if !p.Limits.CPUs.IsZero() {
		s.Limits.CPUs = p.Limits.CPUs
	}
	if !p.Limits.Memory.IsZero() {
		s.Limits.Memory = p.Limits.Memory
	}
	if !p.Limits.PIDs.IsZero() {
		s.Limits.PIDs = p.Limits.PIDs
	}
	return s
}

func mergeEnv(base, over []EnvVar) []EnvVar {
	out := append([]EnvVar(nil), base...)
next:
	for _, o := range over {
		for i := range out {
			if out[i].Name == o.Name {
				out[i].Value = o.Value
				continue next
			}
		}
		out = append(out, o)
	}
	return out
}

// Names of the runners.
const (
	RunnerAuto    = "auto"
	RunnerDocker  = "docker"
	RunnerProcess = "process"
	RunnerFake    = "fake"
)
