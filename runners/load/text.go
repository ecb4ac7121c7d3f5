package load

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// text is a compiled template: literals[0], draws[0], literals[1], ...
type text struct {
	literals []string
	draws    []draw
}

// draw is what stands for a reference: a number from lo to hi, both ends possible,
// or the value of a column.
type draw struct {
	lo, hi int64
	column int // negative: a number
}

// newText compiles a template in which only random and data references are left;
// columns are those of the data.
func newText(t experiment.Template, columns []string) (text, error) {
	const mark = "\x00"
	var out text
	for _, r := range t.Refs() {
		switch r.Kind {
		case experiment.RefRandom:
			out.draws = append(out.draws, draw{r.Lo, r.Hi, -1})
		case experiment.RefData:
			column := slices.Index(columns, r.Name)
			if column < 0 {
				return text{}, fmt.Errorf("%s: the data has no such column", r)
			}
			out.draws = append(out.draws, draw{column: column})
		default:
			return text{}, fmt.Errorf("%s is not resolved", r)
		}
	}
	plain, _ := t.Resolve(func(experiment.Ref) (string, bool) { return mark, true }).Literal()
	out.literals = strings.Split(plain, mark)
	if len(out.literals) != len(out.draws)+1 {
		return text{}, errors.New("holds a NUL byte")
	}
	return out, nil
}

// literal is the text of a string in which nothing is drawn.
func literal(s string) text { return text{literals: []string{s}} }

// join appends one text to another.
func (t text) join(more text) text {
	last := len(t.literals) - 1
	return text{
		literals: slices.Concat(t.literals[:last], []string{t.literals[last] + more.literals[0]}, more.literals[1:]),
		draws:    slices.Concat(t.draws, more.draws),
	}
}

// fixed reports whether the text is always the same.
func (t text) fixed() bool { return len(t.draws) == 0 }

// columns lists the columns of the data from which values are taken.
func (t text) columns() []int {
	var out []int
	for _, d := range t.draws {
		if d.column >= 0 {
			out = append(out, d.column)
		}
	}
	return out
}

// appendTo appends the text with newly drawn numbers and the values of a row.
func (t text) appendTo(b []byte, r *rand.Rand, row []string) []byte {
	b = append(b, t.literals[0]...)
	for i, d := range t.draws {
		if d.column >= 0 {
			b = append(b, row[d.column]...)
		} else {
			b = strconv.AppendInt(b, d.lo+r.Int64N(d.hi-d.lo+1), 10)
		}
		b = append(b, t.literals[i+1]...)
	}
	return b
}
