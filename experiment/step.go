package experiment

import "time"

// Step asks or does something: exactly one of Run, HTTP, Log, File and Port is set.
// It is the one grammar of ready, prepare, confirm and collect.
type Step struct {
	In    string     `json:"in,omitempty"`    // the service; empty: the one under which it is written
	Image Template   `json:"image,omitzero"`  // a container of its own on the run's network, for Run
	Run   []Template `json:"run,omitempty"`   // a command inside the service, or of Image
	HTTP  Template   `json:"http,omitzero"`   // ":PORT/PATH" of the service
	Log   string     `json:"log,omitempty"`   // regular expression over the service's output
	Times int        `json:"times,omitempty"` // how often Log must match; 1 if not given
	File  Template   `json:"file,omitzero"`   // absolute path of a file of the service
	Port  int        `json:"port,omitempty"`  // a TCP port that accepts and keeps a connection (ready only)

	Regex  string    `json:"regex,omitempty"` // each named group takes a value from the answer, the last match counts
	JSON   []Extract `json:"json,omitempty"`  // values taken from a JSON answer
	CSV    []Extract `json:"csv,omitempty"`   // values taken from a CSV answer's column, of its last row
	Unit   Unit      `json:"unit,omitempty"`  // of the values taken (collect)
	Better Direction `json:"better,omitempty"`

	Has  Template   `json:"has,omitzero"`   // text that must occur in the answer
	Is   []Expected `json:"is,omitempty"`   // values that must be equal
	Near []Near     `json:"near,omitempty"` // numbers that must be close

	Only []Only `json:"only,omitempty"`

	// When says when a step of confirm is asked: ConfirmBefore (if empty) or ConfirmAfter
	// the load.
	When string `json:"when,omitempty"`

	// Within bounds the tries of ready (0: DefaultReadyWithin), the one question
	// of confirm and collect (0: DefaultConfirmWithin), or the work of prepare (0:
	// DefaultJobWithin).
	Within time.Duration `json:"within,omitempty"`
	At     Pos           `json:"-"`
}

// When a step of confirm is asked.
const (
	ConfirmBefore = "before"
	ConfirmAfter  = "after"
)

// Collect is a step that brings metrics, named SERVICE.NAME by the values that it
// takes (NAME alone where it has an image of its own), or keeps its answer.
type Collect struct {
	Step
	Moments []Moment      `json:"moments,omitempty"` // empty: MomentEnd
	Every   time.Duration `json:"every,omitempty"`   // during the window; 0: DefaultEvery
	Delta   []string      `json:"delta,omitempty"`   // values of which the growth from start to end is taken
	Keep    string        `json:"keep,omitempty"`    // name of the artifact that the answer becomes
}

// Moment is when a step of collect is asked.
type Moment string

// The moments: start and end of the window, or again and again in it.
const (
	MomentStart  Moment = "start"
	MomentEnd    Moment = "end"
	MomentDuring Moment = "during"
)

// Near says that a named value must be a number within Share (0.05: 5%) of Value.
type Near struct {
	Name  string   `json:"name"`
	Value Template `json:"value"`
	Share float64  `json:"share"`
}

// Extract takes a named value by a path (.a.b.0) from a JSON document, or by the
// name of a column.
type Extract struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// Expected says what a named value must be, verbatim.
type Expected struct {
	Name  string   `json:"name"`
	Value Template `json:"value"`
}

// Confirmation is one expectation of a confirm step and what was found.
type Confirmation struct {
	Service string `json:"service"`
	Name    string `json:"name"`
	Want    string `json:"want"`
	Got     string `json:"got"`
	OK      bool   `json:"ok"`
}

// Resolve replaces references in the texts of the step.
func (s Step) Resolve(f func(Ref) (string, bool)) Step {
	s.Run = resolveAll(s.Run, f)
	s.HTTP = s.HTTP.Resolve(f)
	s.Image, s.File = s.Image.Resolve(f), s.File.Resolve(f)
	s.Has = s.Has.Resolve(f)
	is := make([]Expected, len(s.Is))
	for i, e := range s.Is {
		is[i] = Expected{Name: e.Name, Value: e.Value.Resolve(f)}
	}
	s.Is = is
	near := make([]Near, len(s.Near))
	for i, n := range s.Near {
		near[i] = Near{Name: n.Name, Value: n.Value.Resolve(f), Share: n.Share}
	}
	s.Near = near
	return s
}

func resolveSteps(steps []Step, f func(Ref) (string, bool)) []Step {
	if steps == nil {
		return nil
	}
	out := make([]Step, len(steps))
	for i, s := range steps {
		out[i] = s.Resolve(f)
	}
	return out
}

func resolveAll(ts []Template, f func(Ref) (string, bool)) []Template {
	if ts == nil {
		return nil
	}
	out := make([]Template, len(ts))
	for i, t := range ts {
		out[i] = t.Resolve(f)
	}
	return out
}
