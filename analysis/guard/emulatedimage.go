package guard

import (
	"slices"

	"github.com/ceteris/ceteris/experiment"
)

// emulatedImage trusts the runner, which puts the platform of an image that the host's
// processors do not speak behind its identity.
func emulatedImage() Guard {
	return Guard{
		Code:     "emulated-image",
		Severity: experiment.SeverityWarn,
		Help: "An image is for another processor than the host's, so an emulator translates every instruction of the service. It is several times slower than it " +
			"would be where it belongs, and not evenly so: ratios between settings do not carry over. Use an image for this platform (platform).",
		run: func(o experiment.Outcome, _ float64) []experiment.Finding {
			var all []experiment.Finding
			for _, s := range append(slices.Clip(o.Plan.Services), o.Generator) {
				if _, platform := experiment.SplitImage(o.Images[s.Source()]); platform != "" {
					f := finding(experiment.SeverityWarn, "%s runs an image for %s, and the host is %s: it is emulated", s.Name, platform, o.Host.Arch)
					f.Service = s.Name
					all = append(all, f)
				}
			}
			return all
		},
	}
}
