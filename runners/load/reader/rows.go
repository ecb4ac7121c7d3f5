package reader

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/runners/load"
)

// notTold is a number of bytes that the format does not tell.
const notTold = -1

// notIntended is why latencies are unknown.
const notIntended = "the tool counts from the real send, and does not tell when a request should have begun"

// notTimed is why nothing is told that needs the times of failures.
const notTimed = "of some failures the tool does not tell how long they took"

// longestTimeline is the longest window that is divided into slices.
const longestTimeline = 24 * time.Hour

// maxWindow is the longest window: moments that lie further apart are no times of one run.
const maxWindow = 366 * 24 * time.Hour

// maxRows is how many requests are kept at the most. Each takes 96 bytes, more than twice
// that while their list grows: with the text, reading so many takes about 2 GiB.
const maxRows = 5_000_000

// row is one request of a format that tells of each.
type row struct {
	begin    time.Time     // of the request, as the tool counts it
	took     time.Duration // to the end of its response, or until it failed
	failure  string        // kind of failure as in experiment.LoadResult.Errors; empty for a success
	received int64         // bytes of the response, head and body; notTold
	sent     int64         // bytes of the request; notTold
	request  string        // its kind, as the tool names it; see byRequest
	late     time.Duration // from begin, the intended start, to the real send; see rows.paced
	status   int32         // 0: without one
	opened   bool          // a connection was opened for it; see rows.connects
	dropped  bool          // it was due at begin, and never sent
}

// rows gathers requests and reduces them as the built-in generator does.
type rows struct {
	span     experiment.Span // of those which begin outside it, only what they do in it counts: their ends
	intended bool            // begin is the intended start: latencies are known
	paced    bool            // late and dropped are told; intended as well
	connects bool            // opened is told
	partial  string          // why some requests have no row; what needs them all is then unknown
	untimed  bool            // of some failures the tool does not tell how long they took
	noClock  string          // why moments are told too vaguely for a window, and all that needs one; empty where they are not
	list     []row
	early    []row // began before the span, and were under way in it
	left     int   // out, the early ones among them
	over     bool  // there were more than maxRows
}

func (r *rows) add(one row) {
	if r.over = r.over || len(r.list)+len(r.early) >= maxRows; r.over {
		return
	}
	if r.span.Has(one.begin) {
		r.list = append(r.list, one)
		return
	}
	r.left++
	underWay := one.begin.Before(r.span.Begin) && !one.begin.Add(one.took).Before(r.span.Begin)
	if underWay && !one.dropped && r.noClock == "" {
		r.early = append(r.early, one)
	}
}

// tooMany is the error of an output with more rows than are kept.
func tooMany() error {
	return fmt.Errorf("it tells of more than %d requests: give a summary of the tool's, or the requests of a shorter time", maxRows)
}

// into reduces all rows. The window is the span, or from the first begin to the last
// end where it has no bounds. Completions after a bound do not count in it.
func (r *rows) into(out *result) error {
	if r.over {
		return tooMany()
	}
	if len(r.list) == 0 {
		if r.left > 0 {
			return fmt.Errorf("none of its %d requests began in the window", r.left)
		}
		return incomplete("it tells of no request")
	}
	begin, end := r.bounds()
	if r.span.End.IsZero() && r.noClock == "" {
		r.tail(out, end)
	}
	switch window := end.Sub(begin); {
	case window <= 0:
		return fmt.Errorf("all of its %d requests began and ended at one moment", len(r.list))
	case window > maxWindow:
		return fmt.Errorf("its requests lie %s apart, more than %s", window, maxWindow)
	}
	if r.noClock == "" {
		out.Begin, out.Window = begin, end.Sub(begin)
	}
	c := r.reduce(out, begin, end)
	c.tell(out, r)
	if err := c.distributions(out, r, ""); err != nil {
		return err
	}
	return r.byRequest(out, begin, end)
}

// tail tells of the end of a window without bounds, in which nothing was sent: it
// makes the rates lower than those that the tool kept.
func (r *rows) tail(out *result, end time.Time) {
	last := slices.MaxFunc(r.list, func(a, b row) int { return a.begin.Compare(b.begin) }).begin
	first := slices.MinFunc(r.list, func(a, b row) int { return a.begin.Compare(b.begin) }).begin
	sending, after := last.Sub(first), end.Sub(last)
	if sending > 0 && after > sending/50 {
		out.note("the window ends with the last response, %.3g s after the last request was sent: until then it sent %.4g/s", after.Seconds(), float64(len(r.list)-1)/sending.Seconds())
	}
}

// bounds gives the window.
func (r *rows) bounds() (begin, end time.Time) {
	begin, end = r.span.Begin, r.span.End
	if begin.IsZero() {
		begin = slices.MinFunc(r.list, func(a, b row) int { return a.begin.Compare(b.begin) }).begin
	}
	if end.IsZero() {
		for _, one := range r.list {
			if done := one.begin.Add(one.took); done.After(end) {
				end = done
			}
		}
		end = end.Add(time.Nanosecond) // half-open, with the last one inside
	}
	return begin, end
}

// reduced is what rows come to.
type reduced struct {
	ok, failed            int64 // completed in the window
	received, sent        int64 // bytes; notTold
	okBytes, okRows       int64 // of successes that tell their bytes
	connects              int64
	busy                  float64 // seconds of requests in flight, within the window
	success, failureTimes load.Distribution
	service, lateness     load.Distribution // where they are told: successes from the real send, and all
}

func (r *rows) reduce(out *result, begin, end time.Time) *reduced {
	c := &reduced{}
	slices.SortStableFunc(r.list, func(a, b row) int { return a.begin.Compare(b.begin) })
	out.Total = experiment.Totals{Statuses: map[string]int64{}, Errors: map[string]int64{}}
	out.Statuses, out.Errors = map[string]int64{}, map[string]int64{}
	var timeline *sliced
	switch {
	case r.noClock != "":
	case end.Sub(begin) > longestTimeline:
		out.note("the window is longer than %s: it is not divided into slices", longestTimeline)
	default:
		timeline = newSlices(begin, end)
	}
	for _, one := range r.list {
		done := one.begin.Add(one.took)
		c.count(out, one, done.Before(end) || r.noClock != "")
		c.busy += overlap(one.begin, done, begin, end).Seconds()
		if timeline != nil {
			timeline.add(one, done)
		}
	}
	for _, one := range r.early {
		c.early(out, one, begin, end)
		if timeline != nil {
			timeline.add(one, one.begin.Add(one.took))
		}
	}
	if timeline != nil {
		out.Series = append(out.Series, timeline.points()...)
	}
	return c
}

// overlap is how long a request, from its begin until it was done, was in flight within
// the window.
func overlap(from, done, begin, end time.Time) time.Duration {
	if from.Before(begin) {
		from = begin
	}
	if done.After(end) {
		done = end
	}
	return max(done.Sub(from), 0)
}

// early counts what a request that began before the window does in it.
func (c *reduced) early(out *result, one row, begin, end time.Time) {
	done := one.begin.Add(one.took)
	c.busy += overlap(one.begin, done, begin, end).Seconds()
	if done.Before(end) {
		c.end(out, one)
	}
}

func (c *reduced) count(out *result, one row, inside bool) {
	out.Total.Offered++
	if one.dropped {
		out.Total.Dropped++
		return
	}
	out.Total.Sent++
	one.tally(out.Total.Statuses, out.Total.Errors)
	c.bytes(one)
	if one.opened {
		c.connects++
	}
	if one.failure == "" {
		out.Total.OK++
		c.success.Add(one.took)
		c.service.Add(one.took - one.late)
	} else {
		out.Total.Failed++
		c.failureTimes.Add(one.took)
	}
	c.lateness.Add(one.late)
	if inside {
		c.end(out, one)
	}
}

// end counts a request that is done in the window.
func (c *reduced) end(out *result, one row) {
	one.tally(out.Statuses, out.Errors)
	if one.failure == "" {
		c.ok++
	} else {
		c.failed++
	}
}

// tally counts the status of a request and the kind of its failure, where it has them.
func (r row) tally(statuses, errors map[string]int64) {
	if r.status > 0 {
		statuses[strconv.Itoa(int(r.status))]++
	}
	if r.failure != "" {
		errors[r.failure]++
	}
}

func (c *reduced) bytes(one row) {
	add := func(sum *int64, n int64) {
		if n == notTold || *sum == notTold {
			*sum = notTold
			return
		}
		*sum += n
	}
	add(&c.received, one.received)
	add(&c.sent, one.sent)
	if one.failure == "" && one.received != notTold {
		c.okBytes += one.received
		c.okRows++
	}
}

// tell sets the metrics that are counts. What was offered is known only where the
// intended starts are.
func (c *reduced) tell(out *result, r *rows) {
	if r.partial != "" {
		for _, m := range []string{"sent", "requests_done", "error_rate", "in_flight"} {
			out.unknown(m, r.partial)
		}
	} else {
		c.done(out)
	}
	if c.okRows > 0 {
		out.set("response_bytes", float64(c.okBytes)/float64(c.okRows))
	}
	if r.noClock != "" {
		for _, m := range []string{"throughput", "offered", "sent", "in_flight", "bytes_sent", "bytes_received", "connects"} {
			out.unknown(m, r.noClock)
		}
		return
	}
	c.rates(out, r)
}

// done sets the metrics of what was done.
func (c *reduced) done(out *result) {
	out.set("requests_done", float64(c.ok+c.failed))
	if c.ok+c.failed > 0 {
		out.set("error_rate", float64(c.failed)/float64(c.ok+c.failed))
	}
}

// rates sets the metrics that are told by the window's length.
func (c *reduced) rates(out *result, r *rows) {
	seconds := out.Window.Seconds()
	out.set("throughput", float64(c.ok)/seconds)
	if r.partial == "" {
		out.set("sent", float64(out.Total.Sent)/seconds)
	}
	if r.intended {
		out.set("offered", float64(out.Total.Offered)/seconds)
	}
	if r.paced {
		out.set("dropped", float64(out.Total.Dropped)/float64(out.Total.Offered))
	}
	switch {
	case r.partial != "":
	case r.untimed:
		out.unknown("in_flight", notTimed)
	default:
		out.set("in_flight", c.busy/seconds)
	}
	if c.received != notTold {
		out.set("bytes_received", float64(c.received)/seconds)
	}
	if c.sent != notTold {
		out.set("bytes_sent", float64(c.sent)/seconds)
	}
	if r.connects {
		out.set("connects", float64(c.connects)/seconds)
	}
}

// distributions sets the quantiles that are known, and keeps their histograms.
func (c *reduced) distributions(out *result, r *rows, request string) error {
	type of struct {
		prefix string
		kind   experiment.HistogramKind
		d      *load.Distribution
	}
	all := []of{{"service_time_", experiment.HistogramServiceTime, &c.service}}
	switch {
	case !r.intended:
		out.unknownAll("latency_", notIntended)
		out.unknownAll("failed_latency_", notIntended)
	case r.untimed:
		all = append(all, of{"latency_", experiment.HistogramSuccess, &c.success})
		out.unknownAll("failed_latency_", notTimed)
	default:
		all = append(all, of{"latency_", experiment.HistogramSuccess, &c.success}, of{"failed_latency_", experiment.HistogramFailure, &c.failureTimes})
	}
	for _, one := range all {
		if one.d.Count() == 0 {
			out.unknownAll(one.prefix, "there is no such request")
			continue
		}
		for _, q := range experiment.Quantiles() {
			out.set(one.prefix+q.Name, one.d.Quantile(q.Q))
		}
		h, err := one.d.Encode(experiment.PhaseMeasure, request, one.kind)
		if err != nil {
			return err
		}
		out.Histograms = append(out.Histograms, h)
	}
	if r.intended {
		out.set("latency_count", float64(c.success.Count()))
	}
	if r.paced && c.lateness.Count() > 0 {
		out.set("lateness_p99", c.lateness.Quantile(0.99))
	}
	return nil
}
