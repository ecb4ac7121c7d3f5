package probe

import (
	"context"
	"fmt"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// reading is what a probe reads at one moment.
type reading interface{ when() time.Time }

// probe is an experiment.Probe that reads at both ends of the measured window.
type probe[T reading] struct {
	name    string
	read    func() (T, error)
	observe func(first, last T, elapsed float64) ([]experiment.Observation, error) // elapsed in seconds, above 0
}

// Start implements experiment.Probe. It reads once, so that what cannot be read is
// known before the load.
func (p *probe[T]) Start(_ context.Context, t experiment.ProbeTarget) (experiment.Sampling, error) {
	if !t.Host.Local {
		return elsewhere{}, nil
	}
	if _, err := p.read(); err != nil {
		return nil, err
	}
	return &window[T]{probe: p}, nil
}

// window holds the readings at both ends of the measured window.
type window[T reading] struct {
	probe       *probe[T]
	first, last *T
}

// Mark implements experiment.Sampling: it reads at the begin and at the end of the
// window.
func (w *window[T]) Mark(p experiment.Phase) error {
	var end **T
	switch p {
	case experiment.PhaseMeasure:
		end = &w.first
	case experiment.PhaseDrain:
		end = &w.last
	default:
		return nil
	}
	now, err := w.probe.read()
	if err != nil {
		return err
	}
	*end = &now
	return nil
}

// Stop implements experiment.Sampling. Without both ends of the window the error
// wraps ErrWindow.
func (w *window[T]) Stop(context.Context) ([]experiment.Observation, []experiment.SeriesPoint, error) {
	if w.first == nil || w.last == nil {
		return nil, nil, fmt.Errorf("probe %s: %w", w.probe.name, ErrWindow)
	}
	first, last := *w.first, *w.last
	elapsed := last.when().Sub(first.when()).Seconds()
	if elapsed <= 0 {
		return nil, nil, fmt.Errorf("probe %s: %w", w.probe.name, errNoTime)
	}
	got, err := w.probe.observe(first, last, elapsed)
	if err != nil {
		return nil, nil, fmt.Errorf("probe %s: %w", w.probe.name, err)
	}
	return got, nil, nil
}

// elsewhere is the sampling of a host that is out of sight.
type elsewhere struct{}

// Mark implements experiment.Sampling.
func (elsewhere) Mark(experiment.Phase) error { return nil }

// Stop implements experiment.Sampling.
func (elsewhere) Stop(context.Context) ([]experiment.Observation, []experiment.SeriesPoint, error) {
	return nil, nil, nil
}

// observed is a value of the measured window.
func observed(name, metric string, value float64, unit experiment.Unit) experiment.Observation {
	return experiment.Observation{Metric: name + "." + metric, Phase: experiment.PhaseMeasure, Value: value, Unit: unit}
}
