package experiment

// Trend is how a metric goes with the levels of a numeric factor.
type Trend string

// The trends. One that is monotone is tested; a hump is neither.
const (
	TrendRising  Trend = "rising"
	TrendFalling Trend = "falling"
	TrendNone    Trend = "none"       // not shown
	TrendUntest  Trend = "not-tested" // Reason says why
)

// Response is how a metric answers to the levels of a numeric factor (the baseline's
// among them), in one stage under one condition. The factor may be a condition itself: then
// it is that of the baseline, Condition is the rest, and no level is recommended.
type Response struct {
	Stage     string
	Condition string
	Factor    string
	Metric    string
	Levels    []ResponseLevel // the smallest level first; at least 3
	Test      string          // page (by rounds), jonckheere (without); empty: not tested
	Trend     Trend
	P         *float64 // of the trend, two-sided
	Reason    string   // why there is no test
	Knee      *Knee    // nil below 5 levels, and where none can be told
	USL       *USLFit  // nil below 6 levels, for metrics that are no rate, and for levels that count nothing
	Best      CellKey  // with the best mean; empty below 3 rounds, while rounds are to come, and for a metric without a better direction
	Smallest  CellKey  // with the smallest level that is equivalent to the best one, the best itself if none is
	State     string
}

// ResponseLevel is one level of a response.
type ResponseLevel struct {
	Cell  CellKey `json:"cell"`
	Text  string  `json:"level"` // as declared
	Value float64 `json:"value"` // as a number, durations in s and sizes in B
	N     int     `json:"n"`
	Mean  float64 `json:"mean"` // geometric where the metric is compared on logs
	Fit   float64 `json:"fit"`  // isotonic, in the direction of the trend
}

// Knee is where a broken stick in log2(level) bends.
type Knee struct {
	At     float64 `json:"at"`     // level
	Before float64 `json:"before"` // slope, per doubling of the level
	After  float64 `json:"after"`
}

// USLFit is a fit of the Universal Scalability Law (Gunther 2007), throughput =
// lambda*N / (1 + sigma*(N-1) + kappa*N*(N-1)).
type USLFit struct {
	Lambda float64  `json:"lambda"` // throughput of one, 1/s
	Sigma  float64  `json:"sigma"`  // contention
	Kappa  float64  `json:"kappa"`  // coherency
	SE     float64  `json:"se"`     // standard error of kappa
	Peak   *float64 `json:"peak"`   // level; nil unless kappa exceeds twice its standard error and the peak is below twice the largest level
	Reason string   `json:"reason,omitempty"`
}

// LadderResult is what a ladder showed, means over its rounds.
type LadderResult struct {
	Cell        CellKey  // the ladder as a whole
	Status      string   // found, not-reached, below-ladder, client-limited, non-monotone
	Tail        string   // the metric that is the tail
	Sustained   CellKey  // the last rung before the first that is broken; empty: none
	Broken      CellKey  // the first rung that is not sustained
	TailFirst   CellKey  // tail_first_at: the first whose tail has moved
	MedianFirst CellKey  // median_first_at: the first whose median has moved
	Above       *float64 // every rung is sustained: the rate offered at the top, 1/s
	Rungs       []RungResult
	State       string
}

// RungResult is one rung of a ladder.
type RungResult struct {
	Cell   CellKey
	N      int    // counting runs
	Broken string // why it is not sustained: failed, generator, dropped, errors, achieved, objective; empty if it is, or if nothing is known
}
