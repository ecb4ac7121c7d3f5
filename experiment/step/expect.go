package step

import (
	"bytes"
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// answerName stands for the whole answer, where no value of it is meant.
const answerName = "answer"

// compare checks the expectations of a step against an answer. fault says why no
// values were found in it.
func compare(s experiment.Step, service string, body []byte, values map[string]string, fault string) []experiment.Confirmation {
	var out []experiment.Confirmation
	if want, _ := s.Has.Literal(); want != "" {
		c := experiment.Confirmation{Service: service, Name: answerName, Want: want, OK: bytes.Contains(body, []byte(want))}
		if c.Got = want; !c.OK {
			c.Got = clip(string(body))
		}
		out = append(out, c)
	}
	expect := func(name, want string, holds func(got string) bool) {
		got, ok := values[name]
		if !ok {
			got = cmp.Or(fault, "absent")
		}
		out = append(out, experiment.Confirmation{Service: service, Name: name, Want: want, Got: got, OK: ok && holds(got)})
	}
	for _, e := range s.Is {
		want, _ := e.Value.Literal()
		expect(e.Name, want, func(got string) bool { return got == want })
	}
	for _, n := range s.Near {
		want, _ := n.Value.Literal()
		expect(n.Name, want+"±"+strconv.FormatFloat(100*n.Share, 'g', 6, 64)+"%", func(got string) bool { return near(got, want, n.Share) })
	}
	return out
}

// near reports whether a number lies within a share of another; nothing but zero is
// near zero.
func near(got, want string, share float64) bool {
	g, ok1 := Number(got)
	w, ok2 := Number(want)
	const rounding = 1e-12
	return ok1 && ok2 && math.Abs(g-w) <= (share+rounding)*math.Abs(w)
}

// Number reads a value that was taken from an answer; what is not finite is none.
func Number(text string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}
