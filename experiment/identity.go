package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Hash identifies the sweep of a matrix: SHA-256 of the normalised matrix
// (defaults filled, runner resolved) without name, question, judge and repeat
// except its seed. Change anything else and it is another sweep.
func (m *Matrix) Hash() string {
	n := *m
	n.Name, n.Question, n.Judge = "", "", Settings{}
	n.Repeat = RepeatPlan{Seed: m.Repeat.Seed}
	return HashJSON(n)
}

// HashJSON gives the SHA-256 of the JSON form, in hex. Values of this package
// always have one.
func HashJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("experiment: hash: " + err.Error()) // a broken invariant: plain data only
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
