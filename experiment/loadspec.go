package experiment

import "time"

// LoadSpec declares the load. Exactly one of Closed, Open, Phases, External and None is
// set. With External there are no Requests, and Warmup and Measure say which part of its
// run is the window; without Measure that reaches to its end.
type LoadSpec struct {
	None      bool          `json:"none,omitempty"`    // a study of starts and jobs: nothing is sent
	Service   string        `json:"service,omitempty"` // the target: to: SERVICE:PORT
	Port      int           `json:"port,omitempty"`
	Requests  []RequestSpec `json:"requests,omitempty"`
	Data      *DataSpec     `json:"data,omitempty"`
	Closed    *ClosedSpec   `json:"closed,omitempty"`
	Open      *OpenSpec     `json:"open,omitempty"`
	Streams   []StreamSpec  `json:"streams,omitempty"` // arrival processes beside Open
	Phases    []PhaseSpec   `json:"phases,omitempty"`
	Ramp      Template      `json:"ramp,omitzero"`
	Warmup    WarmupSpec    `json:"warmup,omitzero"`
	Measure   MeasureSpec   `json:"measure,omitzero"`
	Timeout   Template      `json:"timeout,omitzero"`
	Connects  Template      `json:"connections,omitzero"` // empty: users (closed) or in_flight (open)
	KeepAlive bool          `json:"keep_alive"`
	TLS       *TLS          `json:"tls,omitempty"`      // nil: plain text
	HTTP2     bool          `json:"http2,omitempty"`    // else HTTP/1.1
	External  *ExternalSpec `json:"external,omitempty"` // a load generator of others
	At        Pos           `json:"-"`
}

// RequestSpec is one kind of request. The only one may be without a name; of
// several each has one, and is drawn by its weight.
type RequestSpec struct {
	Name    string       `json:"name,omitempty"`
	Weight  Template     `json:"weight,omitzero"` // a number above 0; empty: 1
	Method  string       `json:"method"`
	Path    Template     `json:"path"`
	Headers []EnvVar     `json:"headers,omitempty"`
	Body    Template     `json:"body,omitzero"` // the text, or that of the file named by "@file"
	Expect  Expectations `json:"expect,omitzero"`
	At      Pos          `json:"-"`
}

// Expectations say which responses are successes. Status holds codes ("200") and
// classes of them ("2xx"); empty: 200 to 399.
type Expectations struct {
	Status []string `json:"status,omitempty"`
	Has    Template `json:"has,omitzero"`
}

// DataSpec is a CSV file with a header row, whose next row is used by the next
// request, from the start again at its end.
type DataSpec struct {
	File    string   `json:"file"` // as written, relative to the matrix file
	Columns []string `json:"columns"`
	Rows    int      `json:"rows"`
	SHA256  string   `json:"sha256"` // of the file's bytes, hex
	At      Pos      `json:"-"`
}

// ClosedSpec is a fixed number of users, each waiting for its response and then
// for Think.
type ClosedSpec struct {
	Users Template `json:"users"`
	Think Template `json:"think"`
}

// OpenSpec is an arrival rate with at most InFlight requests under way. An arrival
// above that is dropped, or waits with its intended time kept; both are counted.
type OpenSpec struct {
	Rate     Template `json:"rate"` // as in 400/s
	InFlight Template `json:"in_flight"`
	Arrivals string   `json:"arrivals,omitempty"`  // ArrivalsConstant (if empty) or ArrivalsPoisson
	WhenFull string   `json:"when_full,omitempty"` // WhenFullDrop (if empty) or WhenFullQueue
	CatchUp  string   `json:"catch_up,omitempty"`  // empty, or CatchUpBurst
}

// The kinds of arrivals, and what happens to one above the in-flight limit.
const (
	ArrivalsConstant = "constant"
	ArrivalsPoisson  = "poisson"
	WhenFullDrop     = "drop"
	WhenFullQueue    = "queue"
)

// CatchUpBurst sends arrivals that are overdue by the generator's own fault at once;
// otherwise they are spread, at no more than twice the rate.
const CatchUpBurst = "burst"

// StreamSpec is one more arrival process, which begins After the start of the ramp.
type StreamSpec struct {
	After Template `json:"after"`
	Open  OpenSpec `json:"open"`
	At    Pos      `json:"-"`
}

// PhaseSpec is a part of the load with a shape of its own: Closed, Open, or neither,
// which is idle. The metrics of a measured one are named NAME:METRIC.
type PhaseSpec struct {
	Name    string      `json:"name"`
	Closed  *ClosedSpec `json:"closed,omitempty"`
	Open    *OpenSpec   `json:"open,omitempty"`
	For     Template    `json:"for"`
	Ramp    Template    `json:"ramp,omitzero"` // the first part of For, in which the load moves from the phase before to this one
	Measure bool        `json:"measure,omitempty"`
	At      Pos         `json:"-"`
}

// WarmupSpec is what comes before the window: For, or, where Until is set, as long
// as it takes to be steady, from AtLeast to AtMost.
type WarmupSpec struct {
	For     Template `json:"for,omitzero"`
	Until   string   `json:"until,omitempty"` // WarmupSteady
	AtLeast Template `json:"at_least,omitzero"`
	AtMost  Template `json:"at_most,omitzero"`
}

// WarmupSteady ends the warm-up when the rate of successes has become steady.
const WarmupSteady = "steady"

// MeasureSpec is the window: For, or, where Requests is set, as long as that many
// requests take to be done, AtMost at most.
type MeasureSpec struct {
	For      Template `json:"for,omitzero"`
	Requests Template `json:"requests,omitzero"`
	AtMost   Template `json:"at_most,omitzero"`
}

// Requires refuses to measure on a lesser host. Zero means no demand.
type Requires struct {
	Cores  int   `json:"cores,omitempty"`
	Memory int64 `json:"memory,omitempty"` // bytes
}

// Derived is a metric made from others; see Expr.
type Derived struct {
	Name   string    `json:"name"`
	Of     string    `json:"of"`
	Unit   Unit      `json:"unit,omitempty"`
	Better Direction `json:"better,omitempty"`
	At     Pos       `json:"-"`
}

// Secret is what is kept of a variable of the caller's environment: whether it is
// set, and a keyed hash by which another value is another sweep.
type Secret struct {
	Name string `json:"name"`
	Set  bool   `json:"set"`
	Hash string `json:"hash,omitempty"` // hex; empty if not set
}

// Scrape reads a page in the Prometheus text format, from the start of the warm-up
// to the end of the window.
type Scrape struct {
	URL     Template       `json:"url"`             // ":PORT/PATH" of the service
	Every   time.Duration  `json:"every,omitempty"` // 0: DefaultEvery
	Metrics []ScrapeMetric `json:"metrics"`
	At      Pos            `json:"-"`
}

// ScrapeMetric takes one series of the page as the metric SERVICE.Name.
type ScrapeMetric struct {
	Name     string    `json:"name"`
	Selector string    `json:"selector"` // NAME or NAME{label="value",...}; several that match are added
	Unit     Unit      `json:"unit,omitempty"`
	Better   Direction `json:"better,omitempty"`
}
