package guard

import "github.com/ceteris/ceteris/experiment"

func engineElsewhere() Guard {
	return Guard{
		Code:     "engine-elsewhere",
		Severity: experiment.SeverityNote,
		Help: "The container engine runs on another machine than ceteris, or in a virtual one. What happens there beside the run cannot be " +
			"seen, so host-noise and engine-busy stay silent, which does not mean that there was none.",
		sweep: judgeEngineElsewhere,
	}
}

func judgeEngineElsewhere(s experiment.Sweep, _ experiment.Results, _ float64) []experiment.Finding {
	if s.Host.Engine == "" || s.Host.Local {
		return nil
	}
	f := finding(experiment.SeverityNote, "%s on %s is not on this host: host probes were skipped", s.Host.Engine, s.Host.Name)
	f.Service = experiment.EngineName
	return []experiment.Finding{f}
}
