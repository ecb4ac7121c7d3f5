package matrixfile

import (
	"slices"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

func baseUnits() []string {
	return []string{
		string(experiment.UnitPerSecond), string(experiment.UnitSeconds), string(experiment.UnitBytes),
		string(experiment.UnitBytesRate), string(experiment.UnitCores), string(experiment.UnitRatio), string(experiment.UnitCount),
	}
}

func directions() []string {
	return []string{string(experiment.LowerIsBetter), string(experiment.HigherIsBetter)}
}

func (r *reader) unit(v *value) experiment.Unit {
	return experiment.Unit(r.oneOf(v, "", baseUnits(), nil))
}

func (r *reader) better(v *value) experiment.Direction {
	return experiment.Direction(r.oneOf(v, "", directions(), nil))
}

func collectShape() shape {
	const takes = "a step of collect takes values; what is expected of them belongs into confirm"
	return shape{
		known: words("at every delta keep unit better image " + commonSteps),
		never: map[string]string{"has": takes, "is": takes, "near": takes},
	}
}

func (r *reader) collect(v *value) []experiment.Collect {
	var out []experiment.Collect
	for _, item := range r.items(v, `as in [{http: ":8080/stats", json: {hits: .hits}, delta: [hits]}]`) {
		o := r.object(item, collectShape())
		c := experiment.Collect{
			Step:  r.step(item, o, experiment.DefaultConfirmWithin),
			Delta: r.list(o["delta"], "as in [hits]"),
		}
		c.Unit, c.Better = r.unit(o["unit"]), r.better(o["better"])
		c.Keep, _ = r.plain(o["keep"])
		c.Moments = r.moments(o["at"])
		switch {
		case o["at"] == nil && len(c.Delta) > 0:
			c.Moments = []experiment.Moment{experiment.MomentStart, experiment.MomentEnd}
		case slices.Equal(c.Moments, []experiment.Moment{experiment.MomentEnd}):
			c.Moments = nil // said or not, it is the same
		}
		if o["every"] != nil || slices.Contains(c.Moments, experiment.MomentDuring) {
			c.Every = r.every(o["every"])
		}
		out = append(out, c)
	}
	return out
}

func moments() []string {
	return []string{string(experiment.MomentStart), string(experiment.MomentEnd), string(experiment.MomentDuring)}
}

// moments reads one moment or a list of them.
func (r *reader) moments(v *value) []experiment.Moment {
	if v == nil {
		return nil
	}
	items := []*value{v}
	if v.kind == list {
		items = v.items
	}
	var out []experiment.Moment
	for _, item := range items {
		if m := r.oneOf(item, "", moments(), nil); m != "" {
			out = append(out, experiment.Moment(m))
		}
	}
	if len(items) == 0 {
		r.faultAt(v, "as in [start, end]", "names no moment")
	}
	return out
}

// minEvery keeps what is asked again and again from being load itself.
const minEvery = 100 * time.Millisecond

func (r *reader) every(v *value) time.Duration {
	every := r.duration(v, experiment.DefaultEvery)
	if every < minEvery {
		r.faultAt(v, "", "%q is shorter than 100ms", v.text)
	}
	return every
}

func scrapeShape() shape { return shape{known: words("url every metrics")} }

// scrape reads one page or a list of them.
func (r *reader) scrape(v *value) []experiment.Scrape {
	if v == nil {
		return nil
	}
	items := v.items
	if v.kind != list {
		items = []*value{moved(v, v.path+"[0]")}
	}
	var out []experiment.Scrape
	for _, item := range items {
		o := r.object(item, scrapeShape())
		r.require(item, o, "url", "metrics")
		out = append(out, experiment.Scrape{
			URL: r.template(o["url"], ""), Every: r.every(o["every"]), Metrics: r.scraped(o["metrics"]), At: item.at,
		})
	}
	return out
}

func scrapedShape() shape { return shape{known: words("of unit better")} }

// scraped reads a list of names, or a mapping of names to series.
func (r *reader) scraped(v *value) []experiment.ScrapeMetric {
	var out []experiment.ScrapeMetric
	if v != nil && v.kind == list {
		for _, name := range r.list(v, "") {
			out = append(out, experiment.ScrapeMetric{Name: name, Selector: name})
		}
		return out
	}
	for _, f := range r.names(v, "as in [go_goroutines] or {open: 'conns{state=\"open\"}'}") {
		m := experiment.ScrapeMetric{Name: f.name}
		if f.value.kind == mapping {
			o := r.object(f.value, scrapedShape())
			r.require(f.value, o, "of")
			m.Selector, _ = r.plain(o["of"])
			m.Unit, m.Better = r.unit(o["unit"]), r.better(o["better"])
		} else {
			m.Selector, _ = r.plain(f.value)
		}
		out = append(out, m)
	}
	return out
}

func derivedShape() shape { return shape{known: words("of unit better")} }

func (r *reader) derived(v *value) []experiment.Derived {
	var out []experiment.Derived
	for _, f := range r.names(v, `as in {hit_rate: {of: "delta(app.hits) / delta(app.gets)"}}`) {
		o := r.object(f.value, derivedShape())
		r.require(f.value, o, "of")
		d := experiment.Derived{Name: f.name, Unit: r.unit(o["unit"]), Better: r.better(o["better"]), At: f.at}
		d.Of, _ = r.plain(o["of"])
		out = append(out, d)
	}
	return out
}
