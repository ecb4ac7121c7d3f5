package guard

import "github.com/ceteris/ceteris/experiment"

// generatorCPU compares what the generator used with what it could use: its
// cores, or its CPU limit if that is less.
func generatorCPU() Guard {
	return Guard{
		Code:      "generator-cpu",
		Severity:  experiment.SeverityInvalid,
		Threshold: experiment.DefaultGeneratorCPU,
		Unit:      experiment.UnitRatio,
		Help: "The load generator used more than this share of its own cores in the measured window. Near saturation it sends late and " +
			"measures itself instead of the subject, so the run is excluded. Give the generator more cores (place.load), or lower the load. " +
			"A generator whose processor time was not measured is a warning.",
		run: judgeGeneratorCPU,
	}
}

func judgeGeneratorCPU(o experiment.Outcome, limit float64) []experiment.Finding {
	const metric = experiment.GeneratorName + ".cpu"
	used, ok := observed(o, metric)
	if !ok {
		if _, loaded := observed(o, "throughput"); !loaded || o.Import != nil { // imported says that nobody watched
			return nil
		}
		f := finding(experiment.SeverityWarn, "the generator's processor time was not measured, so it cannot be ruled out as the limit")
		f.Service, f.Metric = experiment.GeneratorName, metric
		return []experiment.Finding{f}
	}
	cores := len(o.Generator.Cores)
	if cores == 0 {
		cores = len(o.Host.Cores)
	}
	if cores == 0 {
		return nil
	}
	capacity, of := float64(cores), plural(cores, "core")
	if cpus := o.Generator.Limits.CPUs; cpus > 0 && cpus < capacity {
		capacity, of = cpus, "limit of "+number(cpus)+" cores"
	}
	if used/capacity <= limit {
		return nil
	}
	f := measured(experiment.SeverityInvalid, metric, used/capacity, "generator used %s of its %s (limit %s)", number(used), of, share(limit))
	f.Service = experiment.GeneratorName
	return []experiment.Finding{f}
}
