package experiment

// ChangeKind says between which places an effect is compared.
type ChangeKind string

// The kinds. Places that share rounds are compared round by round; stages share none.
const (
	ChangeInteraction ChangeKind = "interaction" // the effect of one factor where another is off its baseline too, by its effect alone
	ChangeCondition   ChangeKind = "condition"   // the effect under one condition, by that under the first
	ChangeStage       ChangeKind = "stage"       // the effect in one stage, by that in the stage before; of a peel, in the sweep before
)

// Change sets the effect of a factor in one place against its effect in another, for
// one metric. An effect is a cell against the baseline of its own stage and condition;
// an effect that hides behind something else changes once that is moved.
type Change struct {
	Kind         ChangeKind
	Metric       string
	Secondary    bool     // not the primary metric
	Cell         CellKey  // in the later place: the corner, the same factor and level under the other condition or in the later stage
	From         CellKey  // in the earlier place: with the first factor alone off its baseline, the same factor and level
	FromSweep    int64    // where From is, if it is another sweep; else 0
	Factor       string   // whose effect it is
	Level        string   // of that factor
	Scale        Scale    // as that of the metric
	Before       *float64 // the effect in the earlier place
	After        *float64 // the effect in the later place
	Estimate     *float64 // After by Before, or After less Before
	Low, High    *float64 // at Confidence, Bonferroni over the changes of one kind and metric between the same two places
	EqLow        *float64 // the same construction at 1-2*alpha
	EqHigh       *float64
	Confidence   float64
	P, PAdjusted *float64
	N            int      // rounds compared; the smaller number of the two stages
	Method       Method   // own, or welch between stages
	Verdict      Verdict  // higher, lower, equivalent, inconclusive, not-tested, pending
	Reason       string   // why not-tested
	Material     Material // of the change itself
	Flags        []Flag   // Reversal: the effects point in opposite directions, both with intervals, likewise of Confidence, that exclude none
	State        string   // as that of comparisons
}
