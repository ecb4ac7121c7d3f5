package main

import (
	"fmt"

	"github.com/ceteris/ceteris/experiment"
)

// fits refuses a fixed number of rounds for a matrix with a rule.
func (r rounds) fits(m *experiment.Matrix) error {
	if r == 0 || m.Repeat.Until == experiment.StopFixed {
		return nil
	}
	return &usageError{fmt.Errorf("--rounds %d: %s measures until it is %s: bound that by repeat.at_most, which is %d", r, m.Name, m.Repeat.Until, m.Repeat.AtMost)}
}
