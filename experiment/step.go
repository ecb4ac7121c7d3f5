package experiment

import "time"

// Step asks a service for something: exactly one of Run, HTTP, Log and Port is
// set. It is the one grammar of ready and confirm.
type Step struct {
	Run   []Template `json:"run,omitempty"`   // a command inside the service
	HTTP  Template   `json:"http,omitzero"`   // ":PORT/PATH" of the service
	Log   string     `json:"log,omitempty"`   // regular expression over the service's output
	Times int        `json:"times,omitempty"` // how often Log must match; 1 if not given
	Port  int        `json:"port,omitempty"`  // a TCP port that accepts and keeps a connection (ready only)

	JSON []Extract  `json:"json,omitempty"` // values taken from a JSON answer
	Has  Template   `json:"has,omitzero"`   // text that must occur in the answer
	Is   []Expected `json:"is,omitempty"`   // values that must be equal

	// Within bounds the tries of ready (0: DefaultReadyWithin), or the one question
	// of confirm (0: DefaultConfirmWithin).
	Within time.Duration `json:"within,omitempty"`
	At     Pos           `json:"-"`
}

// Extract takes a named value by a path (.a.b.0) from a JSON document.
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
	s.Has = s.Has.Resolve(f)
	is := make([]Expected, len(s.Is))
	for i, e := range s.Is {
		is[i] = Expected{Name: e.Name, Value: e.Value.Resolve(f)}
	}
	s.Is = is
	return s
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
