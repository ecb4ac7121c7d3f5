package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// Difference is something besides the values in which two sweeps differ.
type Difference struct {
	What     string
	Old, New string // empty: not known, or there is none
}

// unknown stands for what is not known, or not there.
const unknown = "-"

// differences lists what else differs between two sweeps, and when each began.
func differences(old, now experiment.Sweep, pairs []cellPair) []Difference {
	out := []Difference{{"began", date(old.Began), date(now.Began)}}
	add := func(what, a, b string) {
		if a != b {
			out = append(out, Difference{what, cmp.Or(a, unknown), cmp.Or(b, unknown)})
		}
	}
	add("matrix", old.Name, now.Name)
	add("hash of services, load, factors and seed", old.Hash, now.Hash)
	add("runner", old.Runner, now.Runner)
	add("rounds", fmt.Sprint(old.Rounds), fmt.Sprint(now.Rounds))
	add("seed", fmt.Sprint(old.Seed), fmt.Sprint(now.Seed))
	add("ceteris", old.Version, now.Version)
	hosts(old.Host, now.Host, add)
	add("cores of the subject", old.Placement.Subject.String(), now.Placement.Subject.String())
	add("cores of the backing services", old.Placement.Backing.String(), now.Placement.Backing.String())
	add("cores of the generator", old.Placement.Load.String(), now.Placement.Load.String())
	for _, source := range slices.Sorted(maps.Keys(merged(old.Images, now.Images))) {
		add("image "+source, old.Images[source], now.Images[source])
	}
	judged(old.Settings, now.Settings, add)
	if other := otherwise(pairs); other > 0 {
		out = append(out, Difference{"configuration of a run", fmt.Sprintf("of %d paired cells", len(pairs)), fmt.Sprintf("%d differ", other)})
	}
	return out
}

func date(t time.Time) string {
	if t.IsZero() {
		return unknown
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

func merged(a, b experiment.Images) experiment.Images {
	all := experiment.Images{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	return all
}

// hosts compares what the numbers depend on, and what may be renewed on the same host.
func hosts(old, now experiment.Host, add func(what, a, b string)) {
	add("host", old.Name, now.Name)
	add("host's system", old.OS, now.OS)
	add("host's architecture", old.Arch, now.Arch)
	add("host's processor", old.CPU, now.CPU)
	add("host's cores", old.Cores.String(), now.Cores.String())
	add("host's memory, bytes", count(old.Memory), count(now.Memory))
	add("kernel", old.Kernel, now.Kernel)
	add("engine", old.Engine, now.Engine)
	add("boot of the host", old.Boot, now.Boot)
}

func count(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// judged compares the settings by which each sweep was judged alone.
func judged(old, now experiment.Settings, add func(what, a, b string)) {
	add("judge.metric", old.Metric, now.Metric)
	add("judge.minimum_effect", fmt.Sprint(old.MinimumEffect), fmt.Sprint(now.MinimumEffect))
	add("judge.confidence", fmt.Sprint(old.Confidence), fmt.Sprint(now.Confidence))
	add("judge.error_rate", fmt.Sprint(old.ErrorRate), fmt.Sprint(now.ErrorRate))
	old.Metric, old.MinimumEffect, old.Confidence, old.ErrorRate = now.Metric, now.MinimumEffect, now.Confidence, now.ErrorRate
	old.Without, now.Without, old.AcceptRounds, now.AcceptRounds = nil, nil, false, false // these decide nothing here
	if a, b := experiment.HashJSON(old), experiment.HashJSON(now); a != b {
		add("judge, guards and objectives", a[:12], b[:12])
	}
}

// otherwise counts the pairs whose runs had another effective configuration: image IDs,
// environment, limits, cores, load.
func otherwise(pairs []cellPair) int {
	n := 0
	for _, p := range pairs {
		if a, b := p.old.configs, p.now.configs; len(a) > 0 && len(b) > 0 && !slices.Equal(a, b) {
			n++
		}
	}
	return n
}
