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
	Variants []Variant  `json:"variants,omitempty"` // of subject and load, where levels put something else in their place
	Factors  []Factor   `json:"factors"`
	Design   Design     `json:"design,omitzero"`
	Control  bool       `json:"control"` // run the second copy of the baseline
	Load     LoadSpec   `json:"load"`
	Prepare  []Step     `json:"prepare,omitempty"` // after all services are ready, before the load
	Collect  []Collect  `json:"collect,omitempty"` // beside those of the services
	Metrics  []Derived  `json:"metrics,omitempty"`
	Requires Requires   `json:"requires,omitzero"`
	OnFinish []string   `json:"-"`                 // command and arguments, run when an invocation has ended
	Secrets  []Secret   `json:"secrets,omitempty"` // of the caller's environment, filled in before it is hashed; never their values
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

// Factor is a setting to vary.
type Factor struct {
	Name     string  `json:"name"`
	Unit     string  `json:"unit,omitempty"`
	Levels   []Level `json:"levels"`   // in order of declaration, the baseline among them
	Baseline int     `json:"baseline"` // index into Levels
	Only     []Only  `json:"only,omitempty"`
	At       Pos     `json:"-"`
}

// Level is one value of a factor, verbatim: 1.10 stays 1.10.
type Level struct {
	Text  string     `json:"text"`            // how the level is named; its value too, unless it has keys
	Unset bool       `json:"unset,omitempty"` // null: what depends on it is left unset; its text is "null"
	Is    []KeyValue `json:"is,omitempty"`    // settings that move together, read as ${factor.key}
	Set   bool       `json:"set,omitempty"`   // it puts something else into subject or load; see Variant
	At    Pos        `json:"-"`
}

// NullLevel is the text of a level that leaves its setting unset.
const NullLevel = "null"

// KeyValue is one named text, verbatim.
type KeyValue struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Key gives the value of a key of the level.
func (l Level) Key(key string) (string, bool) {
	for _, kv := range l.Is {
		if kv.Key == key {
			return kv.Value, true
		}
	}
	return "", false
}

// PlaceSpec names core sets per role ("0", "1-3", "0,2") or "auto".
type PlaceSpec struct {
	Subject   string `json:"subject"`
	Backing   string `json:"backing"`
	Load      string `json:"load"`
	Conductor string `json:"conductor"`
	At        Pos    `json:"-"`
}

// RepeatPlan says how often. Rounds is at least 1; with a rule it is that of Stopping.
type RepeatPlan struct {
	Rounds int    `json:"rounds"`
	Seed   uint64 `json:"seed"`
	Stopping
}

// Settings are the matrix's judge section, defaults filled.
type Settings struct {
	Metric        string                  `json:"metric"`         // the primary metric
	MinimumEffect float64                 `json:"minimum_effect"` // delta, a fraction; the band is [1/(1+delta), 1+delta]
	Confidence    float64                 `json:"confidence"`     // of intervals, 0.5 to 0.9999
	ErrorRate     float64                 `json:"error_rate"`     // above it: finding errors
	Guards        map[string]GuardSetting `json:"guards,omitempty"`
	Objectives    []Objective             `json:"objectives,omitempty"` // service levels: slo of the requests

	AcceptRounds bool     `json:"accept_rounds,omitempty"` // judge the rounds that there are as if no more were planned
	Without      []string `json:"without,omitempty"`       // labels of cells that are left out
}

// Objective is a service level: a metric that must not exceed a limit, in the
// metric's base unit. A cell meets it if its whole interval lies at or below Limit.
type Objective struct {
	Metric string  `json:"metric"` // latency_p95{search}
	Limit  float64 `json:"limit"`
	At     Pos     `json:"-"`
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
	DefaultJobWithin     = 10 * time.Minute // of a job, and of each step of prepare
	DefaultFixedAtMost   = 10 * time.Minute // of measure: {requests: n}
	DefaultEvery         = time.Second      // of scrape, and of collect during the window
	DefaultConfirmWithin = 10 * time.Second
	DefaultReadyPoll     = 5 * time.Millisecond
	DefaultInFlight      = 1000
	DefaultRamp          = "0s"
	DefaultWarmup        = "5s"
	DefaultMeasure       = "20s"
	DefaultTimeout       = "10s"
	DefaultThink         = "0s"
)

// Names of the runners.
const (
	RunnerAuto    = "auto"
	RunnerDocker  = "docker"
	RunnerProcess = "process"
	RunnerFake    = "fake"
)
