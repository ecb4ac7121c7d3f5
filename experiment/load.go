package experiment

import "time"

// Load is the load of one cell, as it is handed to the generator (JSON; durations
// in nanoseconds). Exactly one of Closed, Open, Phases, External and None is set.
type Load struct {
	None        bool          `json:"none,omitempty"` // nothing is sent, and there is no generator
	Service     string        `json:"service,omitempty"`
	Port        int           `json:"port,omitempty"`
	Targets     []string      `json:"targets,omitempty"` // HOST:PORT of each replica, filled by the conductor; connections are dealt to them in turn
	Requests    []Request     `json:"requests,omitempty"`
	Data        *DataFeed     `json:"data,omitempty"`
	Closed      *ClosedLoad   `json:"closed,omitempty"`
	Open        *OpenLoad     `json:"open,omitempty"`
	Streams     []Stream      `json:"streams,omitempty"`
	Phases      []LoadPhase   `json:"phases,omitempty"`
	Ramp        time.Duration `json:"ramp"`
	Warmup      time.Duration `json:"warmup"`           // with Steady: at least
	Steady      time.Duration `json:"steady,omitempty"` // the warm-up lasts until the rate is steady, at most this long; 0: Warmup exactly
	Measure     time.Duration `json:"measure"`          // with Work: at most
	Work        int64         `json:"work,omitempty"`   // the window ends when that many requests are done; 0: after Measure exactly
	Timeout     time.Duration `json:"timeout"`
	Connections int           `json:"connections"`
	KeepAlive   bool          `json:"keep_alive"`
	TLS         *TLS          `json:"tls,omitempty"`   // nil: plain text
	HTTP2       bool          `json:"http2,omitempty"` // else HTTP/1.1
	Seed        uint64        `json:"seed"`
	External    *External     `json:"external,omitempty"` // a load generator of others; Measure is 0 where its window reaches to its end
}

// Request is one kind of request. Texts may hold ${random:A..B} and ${data:COLUMN},
// which are drawn anew for each.
type Request struct {
	Name    string   `json:"name,omitempty"` // empty if there is one kind
	Weight  float64  `json:"weight"`         // above 0, relative to the others
	Method  string   `json:"method"`
	Path    Template `json:"path"`
	Headers []EnvVar `json:"headers,omitempty"`
	Body    Template `json:"body,omitzero"`
	Status  []Status `json:"status,omitempty"` // of successes; none: 200 to 399
	Has     Template `json:"has,omitzero"`     // text that the body of a success holds
}

// TLS says how the server's certificate is checked.
type TLS struct {
	ServerName string `json:"server_name,omitempty"` // that it must have; empty: the host of the target
	CA         string `json:"ca,omitempty"`          // PEM of the authorities that are trusted; empty: the host's own
	SkipVerify bool   `json:"skip_verify,omitempty"` // trust whoever answers
}

// Status is a range of response codes, both ends included.
type Status struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// DataFeed is a CSV file with a header row, read in a circle.
type DataFeed struct {
	File    string   `json:"file"` // absolute; the generator finds its copy at DataPath
	Columns []string `json:"columns"`
	Rows    int      `json:"rows"`
	SHA256  string   `json:"sha256"`
}

// ClosedLoad is a fixed number of users.
type ClosedLoad struct {
	Users int           `json:"users"`
	Think time.Duration `json:"think"`
}

// OpenLoad is an arrival rate in 1/s with an in-flight limit. An arrival above it
// is dropped, or waits where Queue is set.
type OpenLoad struct {
	Rate     float64 `json:"rate"`
	InFlight int     `json:"in_flight"`
	Poisson  bool    `json:"poisson,omitempty"`
	Queue    bool    `json:"queue,omitempty"`
	CatchUp  bool    `json:"catch_up,omitempty"` // arrivals that are overdue by the generator's own fault are sent at once; else at no more than twice the rate
}

// Stream is one more arrival process, from After the start of the ramp on.
type Stream struct {
	After time.Duration `json:"after"`
	Open  OpenLoad      `json:"open"`
}

// LoadPhase is a part of the load with a shape of its own; neither Closed nor Open
// is idle.
type LoadPhase struct {
	Name    string        `json:"name"`
	Closed  *ClosedLoad   `json:"closed,omitempty"`
	Open    *OpenLoad     `json:"open,omitempty"`
	For     time.Duration `json:"for"`
	Ramp    time.Duration `json:"ramp,omitempty"` // the first part of For
	Measure bool          `json:"measure,omitempty"`
}

// GeneratorEnv is the variable in which the generator finds its Load as JSON, or,
// behind an "@", the path of a file that holds it.
const GeneratorEnv = "CETERIS_LOAD"

// Paths at which the generator's files are declared.
const (
	LoadPath = "/ceteris/load.json"
	DataPath = "/ceteris/data.csv"
)

// DataEnv is the variable in which the generator finds the path of its data.
const DataEnv = "CETERIS_DATA"

// MaxWarmup is the longest warm-up.
func (l Load) MaxWarmup() time.Duration { return max(l.Warmup, l.Steady) }

// Window is the length of all measured parts together; of fixed work, at most.
func (l Load) Window() time.Duration {
	if l.Phases == nil {
		return l.Measure
	}
	var sum time.Duration
	for _, p := range l.Phases {
		if p.Measure {
			sum += p.For
		}
	}
	return sum
}

// Duration is the longest time from the start of the load to the latest end of
// drain.
func (l Load) Duration() time.Duration {
	switch {
	case l.None:
		return 0
	case l.External != nil:
		return l.External.Within
	case l.Phases == nil:
		return l.Ramp + l.MaxWarmup() + l.Measure + l.Timeout
	}
	sum := l.Timeout
	for _, p := range l.Phases {
		sum += p.For
	}
	return sum
}

// SliceWidth is the width of a slice: window/N with N = round(window /
// clamp(window/200, 50 ms, 500 ms)), so that slices never straddle the window's
// ends; 500 ms for fixed work. With phases the window is the sum of the measured
// ones.
func (l Load) SliceWidth() time.Duration {
	if l.Work > 0 {
		return 500 * time.Millisecond
	}
	window := l.Window()
	target := min(max(window/200, 50*time.Millisecond), 500*time.Millisecond)
	n := max((window+target/2)/target, 1)
	return window / n
}

// LoadEvent is what a generator tells while it works: a phase that began, or
// slices that closed.
type LoadEvent struct {
	Phase  Phase         // set when a phase began; PhaseDone when drain ended
	Part   string        // name of the load's own phase that began, where it declares any
	At     time.Time     // wall clock of the generator's host
	Series []SeriesPoint // slices closed since the last event
}

// LoadResult is what a generator reports at its end. What a tool cannot tell is
// absent, never zero.
type LoadResult struct {
	Observations []Observation
	Series       []SeriesPoint
	Histograms   []Histogram
	Statuses     map[string]int64  // responses completed in the window, by status
	Errors       map[string]int64  // failures in the window, by kind: FailureTimeout and its like
	Window       time.Duration     // length of the measured window; of all measured phases together where the load declares any
	Parts        []LoadPart        // the windows of the measured phases, in order, where the load declares any
	Total        Totals            // over all phases
	Requests     map[string]Totals // the same for each named request
	Tool         string            // the load generator of others that measured, with its version if it tells one; empty: the built-in one
	Format       string            // of Tool's output, as read: csv, summary-export
	Unknown      []Unknown         // what Tool cannot tell of the metrics that every load has
	Notes        []LoadNote        // what to know before Tool's numbers are believed
	Begin        time.Time         // of the window, by Tool's clock; zero where it does not tell
}

// Unknown is a metric that a load generator cannot tell, and why.
type Unknown struct {
	Metric string `json:"metric"`
	Why    string `json:"why"`
}

// LoadNote is a trap in the output of a load generator: it becomes a finding of the run.
type LoadNote struct {
	Severity Severity `json:"severity"` // note, or warn where it can turn a conclusion
	Text     string   `json:"text"`     // one sentence with the evidence
}

// Span is a stretch of wall-clock time, half-open. The zero value has no bounds.
type Span struct{ Begin, End time.Time }

// IsZero reports whether the span has no bounds.
func (s Span) IsZero() bool { return s.Begin.IsZero() && s.End.IsZero() }

// Has reports whether a moment lies in the span.
func (s Span) Has(at time.Time) bool {
	return !at.Before(s.Begin) && (s.End.IsZero() || at.Before(s.End))
}

// LoadPart is the window of a measured phase of the load.
type LoadPart struct {
	Name   string        `json:"name"`
	Begin  time.Duration `json:"begin"`  // from the begin of the first one
	Window time.Duration `json:"window"` // its length
}

// Totals are plain counts of requests from the start of the ramp to the end of
// drain. Offered = Sent + Dropped + Waiting; Sent = OK + Failed + requests that
// were sent and are unfinished.
type Totals struct {
	Offered    int64            `json:"offered"`
	Sent       int64            `json:"sent"` // attempts, also those that got no connection
	Dropped    int64            `json:"dropped"`
	Waiting    int64            `json:"waiting"` // offered, and without a connection until drain ended
	OK         int64            `json:"ok"`
	Failed     int64            `json:"failed"`
	Unfinished int64            `json:"unfinished"` // waiting or sent, and not done when drain ended
	Statuses   map[string]int64 `json:"statuses,omitempty"`
	Errors     map[string]int64 `json:"errors,omitempty"`

	Connects      int64 `json:"connects,omitempty"`       // connections opened
	BytesSent     int64 `json:"bytes_sent,omitempty"`     // of requests, heads and bodies
	BytesReceived int64 `json:"bytes_received,omitempty"` // of responses, heads and bodies
}

// Histogram is the encoded distribution of a duration: HDR V2 compressed, 3
// significant digits, whole microseconds from 1 to 1 h. Encoded by runners/load,
// decoded in analysis.
type Histogram struct {
	Phase    Phase  // where the load declares phases: the name of one
	Request  string // name of the request; empty if it is of all kinds
	Kind     HistogramKind
	Count    int64 // values recorded
	Overflow int64 // of them above 1 h, entered at the limit
	Blob     []byte
}

// HistogramKind is what a histogram holds.
type HistogramKind string

// The kinds: response times of successes and failures from the intended start,
// and times from the real send.
const (
	HistogramSuccess     HistogramKind = "success"
	HistogramFailure     HistogramKind = "failure"
	HistogramServiceTime HistogramKind = "service_time"
)
