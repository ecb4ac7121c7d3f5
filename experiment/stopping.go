package experiment

// StopRule says when a sweep has rounds enough. The empty rule is a fixed number.
type StopRule string

// The rules: until the intervals of the primary metric are narrow enough, looked at
// after each round; until none of its verdicts is inconclusive, looked at after 5, 10,
// 20 and 30 rounds.
const (
	StopFixed   StopRule = ""
	StopPrecise StopRule = "precise"
	StopDecided StopRule = "decided"
)

// Rounds of sequential sweeps.
const (
	FirstLook     = 5  // rounds before the first look
	DefaultAtMost = 30 // rounds of a sweep with a rule
)

// Looks gives the rounds after which StopDecided looks.
func Looks() []int { return []int{5, 10, 20, 30} }

// Stopping is the rule of a sweep. Rounds of the sweep is then AtMost.
type Stopping struct {
	Until  StopRule `json:"until,omitempty"`
	Within float64  `json:"within,omitempty"`  // half-width that is narrow enough, a fraction; 0: the minimum effect
	AtMost int      `json:"at_most,omitempty"` // rounds
}

// StopReport is how a sweep stands by its rule.
type StopReport struct {
	Until      StopRule `json:"until,omitempty"`
	Met        bool     `json:"met,omitempty"`        // no more rounds are needed
	At         int      `json:"at,omitempty"`         // rounds at the last look; 0: there was none yet
	Confidence float64  `json:"confidence,omitempty"` // at which the intervals are made that are reported at the nominal one
	Target     float64  `json:"target,omitempty"`     // half-width, a fraction
	HalfWidth  *float64 `json:"half_width,omitempty"` // the widest of the primary metric, a fraction
	Open       int      `json:"open,omitempty"`       // comparisons that are inconclusive at the last look
}
