package guard

import (
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// scrapeGap looks at the polls of every page that was read under load.
func scrapeGap() Guard {
	return Guard{
		Code:     "scrape-gap",
		Severity: experiment.SeverityWarn,
		Help: "A page with metrics of a service (scrape) did not answer during the load. A gap is evidence, not idleness: a service that " +
			"cannot even answer for itself has no thread, no connection or no processor left, and the values before and after the gap say " +
			"nothing about it. Look at errors and latency in the gap; serve the page on a port and a thread of its own.",
		run: judgeScrapeGap,
	}
}

func judgeScrapeGap(o experiment.Outcome, _ float64) []experiment.Finding {
	type key struct{ service, page string }
	var order []key
	polls := map[key][]experiment.SeriesPoint{}
	for _, p := range o.Series {
		if page, ok := experiment.ScrapedPage(p.Metric); ok {
			k := key{p.Service, page}
			if polls[k] == nil {
				order = append(order, k)
			}
			polls[k] = append(polls[k], p)
		}
	}
	var all []experiment.Finding
	for _, k := range order {
		failed, gap := gaps(polls[k])
		if failed == 0 {
			continue
		}
		f := finding(experiment.SeverityWarn, "%d of %s of %s at %s failed, the longest gap lasted %s: a gap is evidence that it could not answer, not that it was idle",
			failed, plural(len(polls[k]), "poll"), k.page, k.service, gap)
		value := float64(failed)
		f.Service, f.Value = k.service, &value
		all = append(all, f)
	}
	return all
}

// gaps counts the polls that failed, and gives the longest time without an answer: from
// the last poll that succeeded before it to the next, or to the last of all.
func gaps(polls []experiment.SeriesPoint) (failed int, longest time.Duration) {
	answered, inGap := polls[0].AtMS, false
	for _, p := range polls {
		failing := p.Value != 0
		if failing {
			failed++
		}
		if failing || inGap {
			longest = max(longest, time.Duration(p.AtMS-answered)*time.Millisecond)
		}
		if inGap = failing; !failing {
			answered = p.AtMS
		}
	}
	return failed, longest
}
