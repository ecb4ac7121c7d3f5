package conduct

import (
	"errors"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/step"
)

// pages lists what probes are to read of the services that run. What cannot be
// addressed is a warning, and its metrics are absent.
func (r *oneRun) pages() []experiment.ScrapePage {
	var all []experiment.ScrapePage
	for _, svc := range r.running {
		for _, sc := range svc.Scrape {
			page, err := r.page(svc.Name, sc)
			if err != nil {
				r.Log.Warn("not scraped", "run", r.outcome.Run.ID, "service", svc.Name, "page", sc.URL.String(), "err", err)
				continue
			}
			all = append(all, page)
		}
	}
	return all
}

func (r *oneRun) page(service string, sc experiment.Scrape) (experiment.ScrapePage, error) {
	page := experiment.ScrapePage{Service: service, Scrape: sc}
	form, ok := sc.URL.Literal()
	proc, runs := r.procs[service]
	if !ok || !runs {
		return page, errors.New("its address is not known, or it has ended")
	}
	port, path, err := step.SplitHTTP(form)
	if err != nil {
		return page, err
	}
	page.Path = path
	for _, m := range membersOf(service, proc) {
		addr, err := m.proc.Addr(port, experiment.FromConductor)
		if err != nil {
			return page, err
		}
		page.Addrs = append(page.Addrs, addr)
	}
	return page, nil
}
