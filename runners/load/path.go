package load

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// path is a compiled path template: literals[0], draws[0], literals[1], ...
type path struct {
	literals []string
	draws    []experiment.Ref
}

// newPath compiles a template in which only random references are left.
func newPath(t experiment.Template) (path, error) {
	const mark = "\x00" // cannot stand in a path
	p := path{draws: t.Refs()}
	for _, r := range p.draws {
		if r.Kind != experiment.RefRandom {
			return path{}, fmt.Errorf("%s is not resolved", r)
		}
	}
	text, _ := t.Resolve(func(experiment.Ref) (string, bool) { return mark, true }).Literal()
	p.literals = strings.Split(text, mark)
	if len(p.literals) != len(p.draws)+1 {
		return path{}, errors.New("holds a NUL byte")
	}
	if !strings.HasPrefix(p.literals[0], "/") {
		return path{}, fmt.Errorf("%q does not begin with /", t.String())
	}
	for _, l := range p.literals {
		if strings.ContainsFunc(l, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' }) {
			return path{}, fmt.Errorf("%q holds blanks, control characters, # or characters that must be escaped", t.String())
		}
	}
	return p, nil
}

// appendTo appends the path with newly drawn numbers; A and B are both possible.
func (p path) appendTo(b []byte, r *rand.Rand) []byte {
	b = append(b, p.literals[0]...)
	for i, d := range p.draws {
		b = strconv.AppendInt(b, d.Lo+r.Int64N(d.Hi-d.Lo+1), 10)
		b = append(b, p.literals[i+1]...)
	}
	return b
}
