package guard

import "github.com/ceteris/ceteris/experiment"

func settingIneffective() Guard {
	return Guard{
		Code:     "setting-ineffective",
		Severity: experiment.SeverityInvalid,
		Help: "A confirm step found another value than the cell declares: the setting did not reach the service, so the run would measure " +
			"something else under the cell's name. It is excluded, without load. Look at how the service reads the setting.",
		run: judgeConfirmations,
	}
}

func judgeConfirmations(o experiment.Outcome, _ float64) []experiment.Finding {
	var all []experiment.Finding
	for _, c := range o.Confirmations {
		if c.OK {
			continue
		}
		f := finding(experiment.SeverityInvalid, "%s reports %s=%q, the cell says %q", c.Service, c.Name, c.Got, c.Want)
		f.Service = c.Service
		all = append(all, f)
	}
	return all
}
