package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// NewScrape makes the probe that reads the pages that services publish in the
// Prometheus text format, from the start of the warm-up to the end of the window. Each
// metric is a series, SERVICE.NAME, and an observation: the mean over the window, or
// of a counter the growth in it. Each poll is a point, 0 or 1, of the series
// scrape_failed{PAGE}: a page that does not answer is evidence, not idleness.
func NewScrape() experiment.Probe {
	return scrapeProbe{get: (&http.Client{
		// No proxy of the environment, no connection left open between polls.
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: (&net.Dialer{}).DialContext},
	}).Do}
}

type scrapeProbe struct {
	get func(*http.Request) (*http.Response, error)
}

// Start implements experiment.Probe.
func (p scrapeProbe) Start(_ context.Context, t experiment.ProbeTarget) (experiment.Sampling, error) {
	s := &scraping{ended: make(chan struct{})}
	s.polling, s.cancel = context.WithCancel(context.Background())
	for _, pg := range t.Pages {
		poll := &poller{get: p.get, page: pg, every: cmp.Or(pg.Scrape.Every, experiment.DefaultEvery), begins: make(chan struct{}, 1)}
		for _, m := range pg.Scrape.Metrics {
			sel, err := parseSelector(m.Selector)
			if err != nil {
				s.cancel()
				return nil, fmt.Errorf("scrape %s of %s: %w", m.Name, pg.Service, err)
			}
			poll.selectors = append(poll.selectors, sel)
		}
		s.pollers = append(s.pollers, poll)
	}
	return s, nil
}

// scraping polls every page on a goroutine of its own.
type scraping struct {
	pollers []*poller
	polling context.Context // of the goroutines; ends with Stop
	cancel  context.CancelFunc
	running sync.WaitGroup
	start   sync.Once
	stop    sync.Once
	ended   chan struct{} // closed when the window ends
	from    time.Time     // the window's begin and end
	to      time.Time
}

// Mark implements experiment.Sampling.
func (s *scraping) Mark(p experiment.Phase) error {
	switch p {
	case experiment.PhaseWarmup, experiment.PhaseMeasure:
		s.start.Do(func() {
			for _, poll := range s.pollers {
				s.running.Go(func() { poll.run(s.polling, s.ended) })
			}
		})
		if p == experiment.PhaseMeasure {
			s.from = time.Now()
			for _, poll := range s.pollers {
				poll.begins <- struct{}{} // holds one, and the window begins once
			}
		}
	case experiment.PhaseDrain:
		s.stop.Do(func() {
			s.to = time.Now()
			close(s.ended)
		})
	default:
	}
	return nil
}

// Stop implements experiment.Sampling.
func (s *scraping) Stop(ctx context.Context) ([]experiment.Observation, []experiment.SeriesPoint, error) {
	if s.to.IsZero() {
		s.cancel()
	}
	forget := context.AfterFunc(ctx, s.cancel)
	s.running.Wait()
	forget()
	s.cancel()
	if len(s.pollers) == 0 {
		return nil, nil, nil
	}
	if s.from.IsZero() || s.to.IsZero() {
		return nil, nil, fmt.Errorf("scrape: %w", ErrWindow)
	}
	var observed []experiment.Observation
	var series []experiment.SeriesPoint
	var errs []error
	for _, p := range s.pollers {
		o, points, err := p.reduce(s.from, s.to)
		observed, series, errs = append(observed, o...), append(series, points...), append(errs, err)
	}
	return observed, series, errors.Join(errs...)
}

// poller reads one page again and again.
type poller struct {
	get       func(*http.Request) (*http.Response, error)
	page      experiment.ScrapePage
	every     time.Duration
	selectors []selector // of the page's metrics
	begins    chan struct{}
	polls     []poll // written by run, read when it is over
}

// poll is one reading of a page.
type poll struct {
	at     time.Time
	failed bool
	values []sampled // of the metrics
}

// sampled is what a page says of one metric.
type sampled struct {
	value   float64
	counter bool
	err     error
}

// leastPatience is how long a page may take to answer, at least.
const leastPatience = 2 * time.Second

// run polls at once, then every so often, when the window begins and when it ends.
// Polls follow one another: while a page does not answer it is not asked again.
func (p *poller) run(ctx context.Context, ended <-chan struct{}) {
	ticks := time.NewTicker(p.every)
	defer ticks.Stop()
	for {
		p.poll(ctx)
		select {
		case <-ticks.C:
		case <-p.begins:
		case <-ended:
			p.poll(ctx)
			return
		case <-ctx.Done():
			return
		}
	}
}

func (p *poller) poll(ctx context.Context) {
	now := poll{at: time.Now(), values: make([]sampled, len(p.selectors))}
	for _, addr := range p.page.Addrs {
		got, err := p.read(ctx, addr)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			now.failed = true
			break
		}
		for i, s := range p.selectors {
			v := &now.values[i]
			value, counter, err := s.sum(got)
			v.value += value // of replicas, the sum
			v.counter, v.err = counter, cmp.Or(v.err, err)
		}
	}
	p.polls = append(p.polls, now)
}

func (p *poller) read(ctx context.Context, addr string) (page, error) {
	ctx, cancel := context.WithTimeout(ctx, max(p.every, leastPatience))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+p.page.Path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4")
	resp, err := p.get(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxPage)) // it counts as failed either way
		return nil, fmt.Errorf("it answers %s", resp.Status)
	}
	return readPage(resp.Body)
}

// millisFrom gives a clock of whole milliseconds from a moment on, negative before it,
// for readings in their order: two that fall into one millisecond stay two.
func millisFrom(from time.Time) func(time.Time) int64 {
	last := int64(math.MinInt64)
	return func(at time.Time) int64 {
		ms := int64(math.Floor(float64(at.Sub(from)) / float64(time.Millisecond)))
		last = max(ms, last+1)
		return last
	}
}

// reduce makes observations and series of the polls.
func (p *poller) reduce(from, to time.Time) ([]experiment.Observation, []experiment.SeriesPoint, error) {
	var observed []experiment.Observation
	var series []experiment.SeriesPoint
	var errs []error
	name := p.page.Service
	clock := millisFrom(from)
	for _, poll := range p.polls {
		failed := 0.0
		if poll.failed {
			failed = 1
		}
		series = append(series, experiment.SeriesPoint{
			Service: name, Metric: experiment.ScrapeFailed(p.page.Scrape.URL.String()), AtMS: clock(poll.at), Value: failed,
		})
	}
	for i, m := range p.page.Scrape.Metrics {
		points, counter, err := p.points(i)
		clock := millisFrom(from)
		for _, x := range points {
			series = append(series, experiment.SeriesPoint{Service: name, Metric: m.Name, AtMS: clock(x.at), Value: x.value})
		}
		value := 0.0
		if err == nil {
			value, err = p.value(points, counter, from, to)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("scrape %s.%s: %w", name, m.Name, err))
			continue
		}
		observed = append(observed, experiment.Observation{
			Metric: name + "." + m.Name, Phase: experiment.PhaseMeasure, Value: value, Unit: cmp.Or(m.Unit, experiment.UnitCount),
		})
	}
	return observed, series, errors.Join(errs...)
}

// point is one value of a metric.
type point struct {
	at    time.Time
	value float64
}

// points gives the values of a metric; without any, why.
func (p *poller) points(metric int) (points []point, counter bool, err error) {
	err = errors.New("no poll succeeded")
	for _, poll := range p.polls {
		switch v := poll.values[metric]; {
		case poll.failed:
		case v.err != nil:
			err = fmt.Errorf("%w %s", v.err, p.page.Scrape.Metrics[metric].Selector)
		default:
			counter = counter || v.counter
			points = append(points, point{poll.at, v.value})
		}
	}
	if len(points) > 0 {
		err = nil
	}
	return points, counter, err
}

// value is the mean of a gauge in the window, or the growth of a counter, which must
// have been read at both ends of it.
func (p *poller) value(points []point, counter bool, from, to time.Time) (float64, error) {
	var inside []point
	for _, x := range points {
		if !x.at.Before(from) { // the poll that the end of the window asks for comes after it
			inside = append(inside, x)
		}
	}
	if len(inside) == 0 {
		return 0, errors.New("no poll in the window succeeded")
	}
	first, last := inside[0], inside[len(inside)-1]
	if !counter {
		sum := 0.0
		for _, x := range inside {
			sum += x.value
		}
		return sum / float64(len(inside)), nil
	}
	if first.at.Sub(from) > p.every || to.Sub(last.at) > p.every || len(inside) < 2 {
		return 0, errors.New("it was not read at both ends of the window")
	}
	growth := 0.0
	for i, x := range inside[1:] {
		if before := inside[i].value; x.value >= before {
			growth += x.value - before
		} else {
			growth += x.value // it began again at 0
		}
	}
	return growth, nil
}
