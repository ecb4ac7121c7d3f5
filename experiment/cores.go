package experiment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// CoreSet is a sorted set of logical processors. Nil means "not pinned".
type CoreSet []int

// ParseCoreSet reads the kernel's list form: "0", "1-3", "0,2-3".
func ParseCoreSet(s string) (CoreSet, error) {
	var set CoreSet
	for field := range strings.SplitSeq(s, ",") {
		a, b, isRange := strings.Cut(strings.TrimSpace(field), "-")
		if !isRange {
			b = a
		}
		lo, err1 := strconv.Atoi(a)
		hi, err2 := strconv.Atoi(b)
		if err1 != nil || err2 != nil || lo < 0 || hi < lo || hi > 8191 {
			return nil, fmt.Errorf("%q is no set of cores (as in 0, 1-3 or 0,2)", s)
		}
		for c := lo; c <= hi; c++ {
			set = append(set, c)
		}
	}
	slices.Sort(set)
	return slices.Compact(set), nil
}

// String gives the kernel's list form.
func (c CoreSet) String() string {
	var b strings.Builder
	for i := 0; i < len(c); {
		j := i
		for j+1 < len(c) && c[j+1] == c[j]+1 {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(c[i]))
		if j > i {
			b.WriteString("-" + strconv.Itoa(c[j]))
		}
		i = j + 1
	}
	return b.String()
}

// MarshalText writes the list form.
func (c CoreSet) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the list form; empty text is the empty set.
func (c *CoreSet) UnmarshalText(b []byte) (err error) {
	*c = nil
	if len(b) > 0 {
		*c, err = ParseCoreSet(string(b))
	}
	return err
}

// Overlaps reports whether the sets share a core.
func (c CoreSet) Overlaps(o CoreSet) bool {
	return slices.ContainsFunc(c, func(x int) bool { return slices.Contains(o, x) })
}

// Placement is which role runs on which cores, and why.
type Placement struct {
	Subject   CoreSet `json:"subject"`
	Backing   CoreSet `json:"backing"`
	Load      CoreSet `json:"load"`
	Conductor CoreSet `json:"conductor"`
	Reason    string  `json:"reason"`
}

// For gives the cores of a role.
func (p Placement) For(r ServiceRole) CoreSet {
	switch r {
	case RoleSubject:
		return p.Subject
	case RoleLoad:
		return p.Load
	default:
		return p.Backing
	}
}

// Place resolves the core sets of a matrix on a host with the given allowed
// cores. "auto": two cores give subject and backing the first, generator and
// conductor the second; from four on the load has a quarter, backing a quarter,
// the subject the rest, and the conductor shares with backing. A generator that
// shares a core with the subject, because there is only one or because the matrix
// says so, is refused unless acceptShared.
func Place(spec PlaceSpec, cores CoreSet, acceptShared bool) (Placement, error) {
	if len(cores) == 0 {
		return Placement{}, fmt.Errorf("no cores known: %w", ErrCannotRun)
	}
	out := autoPlace(cores)
	for _, r := range []struct {
		text string
		name string
		set  *CoreSet
	}{
		{spec.Subject, "subject", &out.Subject},
		{spec.Backing, "backing", &out.Backing},
		{spec.Load, "load", &out.Load},
		{spec.Conductor, "conductor", &out.Conductor},
	} {
		if r.text == "" || r.text == RunnerAuto {
			continue
		}
		set, err := ParseCoreSet(r.text)
		if err != nil {
			return Placement{}, fmt.Errorf("place.%s: %w", r.name, err)
		}
		for _, c := range set {
			if !slices.Contains(cores, c) {
				return Placement{}, fmt.Errorf("place.%s: core %d is not on this host (it has %s): %w", r.name, c, cores, ErrCannotRun)
			}
		}
		*r.set = set
		out.Reason = "as the matrix says"
	}
	switch {
	case acceptShared || !out.Subject.Overlaps(out.Load):
		return out, nil
	case len(cores) == 1:
		return Placement{}, WithHint(fmt.Errorf("one core only: subject and generator would share it: %w", ErrCannotRun),
			"use a host with two cores or more, or --accept-shared")
	default:
		return Placement{}, WithHint(fmt.Errorf("place: subject on core %s and generator on core %s would share: %w", out.Subject, out.Load, ErrCannotRun),
			"give them cores of their own (place.subject, place.load), or --accept-shared")
	}
}

// autoPlace divides one core or more.
func autoPlace(cores CoreSet) Placement {
	n := len(cores)
	switch {
	case n == 1:
		return Placement{
			Subject: cores, Backing: cores, Load: cores, Conductor: cores,
			Reason: "one core, shared by all",
		}
	case n < 4:
		last := cores[n-1:]
		return Placement{
			Subject: cores[:n-1], Backing: cores[:n-1], Load: last, Conductor: last,
			Reason: fmt.Sprintf("%d cores: subject and backing share %s, generator and conductor share %s", n, cores[:n-1], last),
		}
	default:
		q := n / 4
		load, backing := cores[n-q:], cores[n-2*q:n-q]
		return Placement{
			Subject: cores[:n-2*q], Backing: backing, Load: load, Conductor: backing,
			Reason: fmt.Sprintf("%d cores: half for the subject, a quarter each for backing services and generator; the conductor shares with backing", n),
		}
	}
}
