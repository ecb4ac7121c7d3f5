// Package probe measures what surrounds the services of a run: the host and the
// container engine.
//
// A probe reads cumulative counters when the measured window begins and when it
// ends (drain begins), and nothing in between, so that it does not disturb what is
// measured. Each reading carries its own time; rates are made of the two times,
// never of the planned length of the window. Only PhaseMeasure is observed.
//
// What is not done: services are read by their runner (Proc.Usage); metrics that
// services publish are not scraped here.
package probe

import (
	"errors"

	"github.com/ceteris/ceteris/experiment"
)

// ErrWindow says that a probe did not see both ends of the measured window, so it
// observed nothing.
var ErrWindow = errors.New("the measured window was not seen whole")

// window holds the readings at both ends of the measured window.
type window[T any] struct {
	read        func() (T, error)
	first, last *T
}

// mark reads when p is the begin or the end of the window.
func (w *window[T]) mark(p experiment.Phase) error {
	var end **T
	switch p {
	case experiment.PhaseMeasure:
		end = &w.first
	case experiment.PhaseDrain:
		end = &w.last
	default:
		return nil
	}
	now, err := w.read()
	if err != nil {
		return err
	}
	*end = &now
	return nil
}

// ends gives both readings.
func (w *window[T]) ends() (first, last T, err error) {
	if w.first == nil || w.last == nil {
		return first, last, ErrWindow
	}
	return *w.first, *w.last, nil
}

// observed is a value of the measured window.
func observed(name, metric string, value float64, unit experiment.Unit) experiment.Observation {
	return experiment.Observation{Metric: name + "." + metric, Phase: experiment.PhaseMeasure, Value: value, Unit: unit}
}
