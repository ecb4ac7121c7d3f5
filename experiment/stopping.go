package experiment

// StopRule says when a sweep has rounds enough. The empty rule is a fixed number.
type StopRule string

// The rules: until the intervals of the primary metric are narrow enough, looked at
// after each round from the fifth on; until none of its verdicts is inconclusive, looked
// at after 5, 10, 20 and 30 rounds.
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

// Stopping is the rule of a sweep. Rounds of the sweep is then AtMost, until the rule is
// met: then it is the rounds that were enough.
type Stopping struct {
	Until  StopRule `json:"until,omitempty"`
	Within float64  `json:"within,omitempty"`  // half-width that is narrow enough, a fraction; 0: the minimum effect
	AtMost int      `json:"at_most,omitempty"` // rounds
}

// Looks gives how often StopDecided looks: after the rounds of Looks that lie below
// AtMost, and after AtMost.
func (s Stopping) Looks() int {
	n := 1
	for _, look := range Looks() {
		if look < s.AtMost {
			n++
		}
	}
	return n
}

// LastLook gives the rounds at the last look when so many are done; 0: there was none.
// From AtMost on it is all of them. A fixed number is never looked at.
func (s Stopping) LastLook(rounds int) int {
	switch {
	case s.Until == StopFixed || rounds < FirstLook:
		return 0
	case s.Until == StopPrecise || rounds >= s.AtMost:
		return rounds
	}
	last := 0
	for _, look := range Looks() {
		if look <= rounds {
			last = look
		}
	}
	return last
}

// Due reports whether the rule looks when so many rounds are done.
func (s Stopping) Due(rounds int) bool { return rounds > 0 && s.LastLook(rounds) == rounds }

// StopReport is how a sweep stands by its rule. With several stages it is the rounds of
// the one that has fewest, and the widths and verdicts of all.
type StopReport struct {
	Until      StopRule `json:"until,omitempty"`
	Met        bool     `json:"met,omitempty"`        // in every stage: no more rounds are needed
	MetIn      []string `json:"met_in,omitempty"`     // stages in which it is met
	At         int      `json:"at,omitempty"`         // rounds at the last look; 0: there was none yet
	Confidence float64  `json:"confidence,omitempty"` // at which the intervals are made that are reported at the nominal one
	Target     float64  `json:"target,omitempty"`     // half-width, a fraction; 0: the rule has none
	HalfWidth  *float64 `json:"half_width,omitempty"` // the widest of the primary metric, a fraction
	Open       int      `json:"open,omitempty"`       // comparisons because of which the rule is not met at the last look
}
