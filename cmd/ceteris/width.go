package main

import (
	"golang.org/x/term"

	"github.com/ceteris/ceteris/analysis/report"
)

// narrowest is the least width for which a table is made; below, lines wrap.
const narrowest = 60

// tables says how wide tables may be: as wide as the terminal that shows them.
func (a *app) tables() report.Options {
	f, ok := a.out.(interface{ Fd() uintptr })
	if !ok {
		return report.Options{}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return report.Options{} // no terminal
	}
	return report.Options{Width: max(width, narrowest)}
}
