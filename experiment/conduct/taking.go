package conduct

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/step"
)

// maxTaken bounds the output out of which values are taken, in bytes.
const maxTaken = 16 << 20

// taken takes the result out of an output that no reader knows. What is asked for and is
// not there, no number or impossible is unknown; without any value there is no result.
func taken(x *experiment.External, from io.Reader) (experiment.LoadResult, error) {
	result := experiment.LoadResult{Tool: toolName(x.Service), Format: experiment.FormatExtract}
	body, err := io.ReadAll(io.LimitReader(from, maxTaken+1))
	switch {
	case err != nil:
		return result, fmt.Errorf("read the output: %w", err)
	case len(body) > maxTaken:
		return result, fmt.Errorf("extract: the output is longer than %d MiB", maxTaken>>20)
	}
	var fault error
	for _, s := range x.Extract {
		values, why := step.Take(s, body)
		if why != "" {
			fault = cmp.Or(fault, fmt.Errorf("extract: %s", why))
		}
		for _, name := range s.Takes() {
			unit := cmp.Or(s.Unit, experiment.UnitCount)
			m, known := experiment.MetricByName(name)
			if known {
				unit = m.Unit
			}
			text, found := values[name]
			v, ok := inUnit(text, unit)
			switch {
			case !found:
				why = cmp.Or(why, "the output does not tell it")
				result.Unknown = append(result.Unknown, experiment.Unknown{Metric: name, Why: why})
			case !ok:
				result.Unknown = append(result.Unknown, experiment.Unknown{Metric: name, Why: fmt.Sprintf("%q is no number", text)})
			case v < 0 && (known || unit != experiment.UnitCount), v > 1 && unit == experiment.UnitRatio:
				result.Unknown = append(result.Unknown, experiment.Unknown{Metric: name, Why: fmt.Sprintf("%q is impossible", text)})
			default:
				result.Observations = append(result.Observations, experiment.Observation{Metric: name, Phase: experiment.PhaseMeasure, Value: v, Unit: unit})
			}
		}
	}
	if len(result.Observations) == 0 {
		return result, cmp.Or(fault, errors.New("extract: no value is a number that is possible"))
	}
	return result, nil
}

// inUnit reads a value; where seconds are wanted it may have a unit of time (12.5ms).
func inUnit(text string, unit experiment.Unit) (float64, bool) {
	if v, ok := step.Number(text); ok {
		return v, true
	}
	if unit != experiment.UnitSeconds {
		return 0, false
	}
	d, err := experiment.ParseDuration(text)
	return d.Seconds(), err == nil
}

// toolName names a generator by what it runs.
func toolName(s experiment.Service) string {
	switch {
	case s.Image != "":
		return s.Image
	case s.Build != nil:
		return path.Base(cmp.Or(s.Build.Go, s.Build.Context))
	case len(s.Command) > 0:
		return path.Base(s.Command[0].String())
	default:
		return s.Name
	}
}
