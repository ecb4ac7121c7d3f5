package experiment

import "time"

// Load is the load of one cell, as it is handed to the generator (JSON; durations
// in nanoseconds). Exactly one of Closed and Open is set.
type Load struct {
	Service     string        `json:"service"`
	Port        int           `json:"port"`
	Target      string        `json:"target,omitempty"` // HOST:PORT, filled by the conductor
	Method      string        `json:"method"`
	Path        Template      `json:"path"` // may hold ${random:A..B}, drawn anew for each request
	Closed      *ClosedLoad   `json:"closed,omitempty"`
	Open        *OpenLoad     `json:"open,omitempty"`
	Ramp        time.Duration `json:"ramp"`
	Warmup      time.Duration `json:"warmup"`
	Measure     time.Duration `json:"measure"`
	Timeout     time.Duration `json:"timeout"`
	Connections int           `json:"connections"`
	KeepAlive   bool          `json:"keep_alive"`
	Seed        uint64        `json:"seed"`
}

// ClosedLoad is a fixed number of users.
type ClosedLoad struct {
	Users int           `json:"users"`
	Think time.Duration `json:"think"`
}

// OpenLoad is a constant arrival rate in 1/s with an in-flight limit.
type OpenLoad struct {
	Rate     float64 `json:"rate"`
	InFlight int     `json:"in_flight"`
}

// GeneratorEnv is the variable in which the generator finds its Load as JSON.
const GeneratorEnv = "CETERIS_LOAD"

// Duration is the time from the start of the ramp to the latest end of drain.
func (l Load) Duration() time.Duration { return l.Ramp + l.Warmup + l.Measure + l.Timeout }

// SliceWidth is the width of a slice: window/N with N = round(window /
// clamp(window/200, 50 ms, 500 ms)), so that slices never straddle the window's
// ends.
func (l Load) SliceWidth() time.Duration {
	target := min(max(l.Measure/200, 50*time.Millisecond), 500*time.Millisecond)
	n := max((l.Measure+target/2)/target, 1)
	return l.Measure / n
}

// LoadEvent is what a generator tells while it works: a phase that began, or
// slices that closed.
type LoadEvent struct {
	Phase  Phase         // set when a phase began; PhaseDone when drain ended
	At     time.Time     // wall clock of the generator's host
	Series []SeriesPoint // slices closed since the last event
}

// LoadResult is what a generator reports at its end. What a tool cannot tell is
// absent, never zero.
type LoadResult struct {
	Observations []Observation
	Series       []SeriesPoint
	Histograms   []Histogram
	Statuses     map[string]int64 // responses completed in the window, by status
	Errors       map[string]int64 // failures in the window, by kind: timeout, reset, refused, connect, eof, protocol, status
	Window       time.Duration    // length of the measured window
	Total        Totals           // over all phases
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
}

// Histogram is the encoded distribution of a duration: HDR V2 compressed, 3
// significant digits, whole microseconds from 1 to 1 h. Encoded by runners/load,
// decoded in analysis.
type Histogram struct {
	Phase    Phase
	Request  string // name of the request; empty if there is one kind
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
