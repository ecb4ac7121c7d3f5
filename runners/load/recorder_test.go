package load

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

const ms = time.Millisecond

// Every moment lies in exactly one slice, and none straddles the window's ends.
func TestSlicesNeverStraddleTheWindow(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		l := experiment.Load{Measure: minWindow + time.Duration(rng.Int64N(int64(20*time.Minute)))}
		g := newGrid(l)
		first, _ := g.begin(0)
		after, _ := g.begin(g.stretches[0].count)
		if first != 0 || after != l.Measure {
			t.Fatalf("window %v: its slices begin at %v, those after it at %v", l.Measure, first, after)
		}
		for range 20 {
			at := time.Duration(rng.Int64N(3*int64(l.Measure))) - l.Measure
			checkSlice(t, g, at)
		}
		for _, at := range []time.Duration{-1, 0, l.Measure - 1, l.Measure} {
			checkSlice(t, g, at)
		}
	}
}

func checkSlice(t *testing.T, g grid, at time.Duration) {
	t.Helper()
	i := g.index(at)
	begin, window := g.begin(i)
	end, _ := g.begin(i + 1)
	if at < begin || at >= end {
		t.Fatalf("%+v: %v is put into slice %d, [%v, %v)", g, at, i, begin, end)
	}
	want := -1
	for _, s := range g.stretches {
		if at >= s.begin && at < s.end {
			want = s.window
		}
	}
	if window != want {
		t.Fatalf("%+v: %v is put into slice %d of window %d, want %d", g, at, i, window, want)
	}
}

func TestRecorderSeparatesWindowAndSuccess(t *testing.T) {
	r := newRecorder(experiment.Load{Warmup: time.Second, Measure: time.Second, Timeout: time.Second, Open: &experiment.OpenLoad{Rate: 1, InFlight: 9}})
	ok := outcome{status: 200, traffic: traffic{written: 100, received: 500}}
	one := func(intended, sent, end time.Duration, o outcome) {
		r.shard(0).offer(0, intended)
		r.shard(0).send(0, intended, sent)
		r.shard(0).done(0, intended, sent, end, o)
	}
	one(-500*ms, -500*ms, -400*ms, ok)                                                                                                            // before the window
	one(-100*ms, -100*ms, 100*ms, ok)                                                                                                             // completes inside
	one(0, 0, 200*ms, ok)                                                                                                                         // inside
	one(300*ms, 350*ms, 400*ms, outcome{status: 503, kind: experiment.FailureStatus, traffic: traffic{connects: 1, written: 100, received: 100}}) // a failure
	one(500*ms, 600*ms, 1600*ms, outcome{kind: experiment.FailureTimeout})                                                                        // fails in drain
	one(900*ms, 1100*ms, 1300*ms, ok)                                                                                                             // sent in drain
	one(999999999, 1000*ms, 1001*ms, ok)                                                                                                          // the last moment inside
	r.shard(0).drop(0, 700*ms)                                                                                                                    // inside
	r.shard(0).drop(0, -700*ms)                                                                                                                   // before
	r.shard(0).offer(0, 800*ms)                                                                                                                   // sent, never answered
	r.shard(0).send(0, 800*ms, 850*ms)                                                                                                            //
	r.shard(0).unfinished(0, 800*ms, 850*ms, 2000*ms, traffic{connects: 1, written: 50})                                                          //
	r.shard(0).offer(0, 850*ms)                                                                                                                   // never sent
	r.shard(0).unfinished(0, 850*ms, never, 2000*ms, traffic{})                                                                                   //
	points := flatten(r, r.closeSlices(2*time.Second, true))
	got, err := r.summary()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{
		"throughput": 2, "offered": 8, "sent": 4, "dropped": 1.0 / 8, "error_rate": 1.0 / 3, "unfinished": 2,
		"requests_done": 3, "latency_count": 5,
		// 100 + 200 + 100 + 500 + 100 + 0 + 200 + 150 ms inside the window
		"in_flight": 1.35,
		// 1.000001 ms, 200 ms, 400 ms, 1150 ms, 1200 ms
		"latency_p50": 0.4, "latency_p90": 1.2, "latency_p95": 1.2, "latency_p99": 1.2, "latency_p999": 1.2, "latency_max": 1.2,
		// 100 ms, 1100 ms
		"failed_latency_p50": 0.1, "failed_latency_p90": 1.1, "failed_latency_p95": 1.1, "failed_latency_p99": 1.1, "failed_latency_p999": 1.1, "failed_latency_max": 1.1,
		// 1 ms, 200 ms, 200 ms, 1150 ms
		"service_time_p50": 0.2, "service_time_p90": 1.15, "service_time_p95": 1.15, "service_time_p99": 1.15, "service_time_p999": 1.15, "service_time_max": 1.15,
		"lateness_p99": 0.2,
		// of the four that were sent inside, and of the three that completed there
		"connects": 2, "bytes_sent": 250, "bytes_received": 1100, "response_bytes": 500,
	}
	if d := cmp.Diff(observed(t, got), want, within(0.001)); d != "" {
		t.Errorf("observations (-got +want):\n%s", d)
	}
	if d := cmp.Diff(got.Statuses, map[string]int64{"200": 2, "503": 1}); d != "" {
		t.Errorf("statuses (-got +want):\n%s", d)
	}
	if d := cmp.Diff(got.Errors, map[string]int64{"status": 1}); d != "" {
		t.Errorf("errors (-got +want):\n%s", d)
	}
	total := experiment.Totals{
		Offered: 11, Sent: 8, Dropped: 2, Waiting: 1, OK: 5, Failed: 2, Unfinished: 2,
		Statuses: map[string]int64{"200": 5, "503": 1}, Errors: map[string]int64{"status": 1, "timeout": 1},
		Connects: 2, BytesSent: 650, BytesReceived: 2600,
	}
	if d := cmp.Diff(got.Total, total); d != "" {
		t.Errorf("total (-got +want):\n%s", d)
	}
	checkSums(t, got, points)
}

// What HTTP/2 takes on the wire is not known, which is not 0: that of responses is their
// bodies.
func TestBytesOverHTTP2(t *testing.T) {
	r := newRecorder(experiment.Load{Measure: time.Second, Closed: &experiment.ClosedLoad{Users: 1}, HTTP2: true})
	s := r.shard(0)
	s.start(0, 0, 0)
	s.done(0, 0, 0, time.Millisecond, outcome{status: 200, traffic: traffic{connects: 1, received: 500}})
	r.closeSlices(time.Second, true)
	got, err := r.summary()
	if err != nil {
		t.Fatal(err)
	}
	all := observed(t, got)
	for _, metric := range []string{"bytes_sent", "bytes_received"} {
		if v, told := all[metric]; told {
			t.Errorf("%s is told: %g", metric, v)
		}
	}
	if all["connects"] != 1 || all["response_bytes"] != 500 {
		t.Errorf("%v", all)
	}
}

func TestNothingToSayIsAbsent(t *testing.T) {
	r := newRecorder(experiment.Load{Measure: time.Second, Closed: &experiment.ClosedLoad{Users: 1}})
	r.closeSlices(time.Second, true)
	got, err := r.summary()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"throughput": 0, "offered": 0, "sent": 0, "unfinished": 0, "in_flight": 0, "requests_done": 0, "latency_count": 0, "connects": 0, "bytes_sent": 0, "bytes_received": 0}
	if d := cmp.Diff(observed(t, got), want); d != "" {
		t.Errorf("(-got +want):\n%s", d)
	}
	if len(got.Histograms)+len(got.Statuses)+len(got.Errors) > 0 {
		t.Errorf("histograms %v, statuses %v, errors %v", got.Histograms, got.Statuses, got.Errors)
	}
}

func TestHistogramsKeepWhatIsBeyondTheirRange(t *testing.T) {
	var d Distribution
	for _, v := range []time.Duration{0, 400, 1499, 90 * time.Minute, time.Hour, 123456 * time.Microsecond} {
		d.Add(v)
	}
	h, err := d.Encode(experiment.PhaseMeasure, "", experiment.HistogramSuccess)
	if err != nil {
		t.Fatal(err)
	}
	if h.Count != 6 || h.Overflow != 1 {
		t.Errorf("count %d, overflow %d, want 6 and 1", h.Count, h.Overflow)
	}
	back, err := hdrhistogram.Decode([]byte(base64.StdEncoding.EncodeToString(h.Blob)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range back.Distribution() {
		if b.Count > 0 {
			got = append(got, fmt.Sprintf("%d-%d: %d", b.From, b.To, b.Count))
		}
	}
	if len(got) != 3 || got[0] != "1-1: 3" {
		t.Errorf("got %v, want three values of 1 µs, one about 123456 and two about 3.6e9", got)
	}
	if q := d.Quantile(0.6); math.Abs(q-0.123456) > 0.000124 {
		t.Errorf("quantile 0.6: %g", q)
	}
	if q := d.Quantile(1); q != 3600 {
		t.Errorf("largest: %g", q)
	}
}

func TestLateEventsCountOnceInTheFirstOpenSlice(t *testing.T) {
	r := newRecorder(experiment.Load{Measure: time.Second, Closed: &experiment.ClosedLoad{Users: 1}})
	r.shard(0).offer(0, 10*ms)
	points := flatten(r, r.closeSlices(500*ms, false))
	r.shard(0).send(0, 10*ms, 20*ms) // recorded long after
	r.shard(0).done(0, 10*ms, 20*ms, 30*ms, outcome{status: 200})
	points = append(points, flatten(r, r.closeSlices(time.Second, true))...)
	got, err := r.summary()
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, got, points)
}

func TestArrivalsThatAreStillToComeHoldTheirSliceOpen(t *testing.T) {
	r := newRecorder(experiment.Load{Measure: time.Second, Open: &experiment.OpenLoad{Rate: 1, InFlight: 1}})
	r.expect(0, 120*ms)
	if got := r.closeSlices(800*ms+settle, false); len(got) != 2 {
		t.Errorf("%d slices of 50 ms were closed, want 2: an arrival at 120 ms is expected", len(got))
	}
	r.expect(0, never)
	if got := r.closeSlices(800*ms+settle, false); len(got) != 14 {
		t.Errorf("%d slices were closed, want those up to 800 ms", len(got))
	}
}

// observed gives the observations by name, all of the window, and those of a phase or
// a request with the unit of the metric that they are of.
func observed(t testing.TB, r experiment.LoadResult) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for _, o := range r.Observations {
		base := o.Metric
		if _, after, ok := strings.Cut(base, ":"); ok {
			base = after
		}
		base, _, _ = strings.Cut(base, "{")
		m, known := experiment.MetricByName(base)
		_, twice := out[o.Metric]
		note := o.Phase != experiment.PhaseMeasure && !known
		if o.Phase != experiment.PhaseMeasure && !note || twice || known && m.Unit != o.Unit {
			t.Errorf("%+v: phase, unit or second of its name", o)
		}
		out[o.Metric] = o.Value
	}
	return out
}

func within(fraction float64) cmp.Option {
	return cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= fraction*max(math.Abs(a), math.Abs(b)) })
}

func flatten(r *recorder, done []closed) []experiment.SeriesPoint {
	var points []experiment.SeriesPoint
	for _, c := range done {
		points = append(points, c.points(r.drops)...)
	}
	return points
}

// checkSums compares the sums of the slices with totals and windows.
func checkSums(t testing.TB, r experiment.LoadResult, points []experiment.SeriesPoint) {
	t.Helper()
	parts := r.Parts
	if parts == nil {
		parts = []experiment.LoadPart{{Window: r.Window}}
	}
	all, in := map[string]float64{}, make([]map[string]float64, len(parts))
	seen := map[experiment.SeriesPoint]bool{}
	for _, p := range points {
		all[p.Metric] += p.Value
		for i, part := range parts {
			if in[i] == nil {
				in[i] = map[string]float64{}
			}
			if p.AtMS >= wholeMS(part.Begin) && p.AtMS < wholeMS(part.Begin+part.Window) {
				in[i][p.Metric] += p.Value
			}
		}
		key := experiment.SeriesPoint{Metric: p.Metric, AtMS: p.AtMS}
		if seen[key] {
			t.Errorf("%s has two points at %d ms", p.Metric, p.AtMS)
		}
		seen[key] = true
	}
	x := r.Total
	for metric, want := range map[string]int64{"offered": x.Offered, "sent": x.Sent, "dropped": x.Dropped, "done": x.OK + x.Failed, "failed": x.Failed} {
		if int64(all[metric]) != want {
			t.Errorf("slices of %s add up to %g, in total there are %d", metric, all[metric], want)
		}
	}
	o := observed(t, r)
	for i, part := range parts {
		prefix, seconds := "", part.Window.Seconds()
		if part.Name != "" {
			prefix = part.Name + ":"
		}
		dropped := o[prefix+"dropped"] * o[prefix+"offered"] * seconds
		for metric, want := range map[string]float64{
			"offered": o[prefix+"offered"] * seconds, "sent": o[prefix+"sent"] * seconds, "done": o[prefix+"requests_done"],
			"failed": o[prefix+"requests_done"] - o[prefix+"throughput"]*seconds, "dropped": dropped,
		} {
			if math.Abs(in[i][metric]-want) > 1e-6*max(want, 1) {
				t.Errorf("slices of %s%s in the window add up to %g, the window has %g", prefix, metric, in[i][metric], want)
			}
		}
	}
}

func BenchmarkRecorder(b *testing.B) {
	r := newRecorder(experiment.Load{Measure: time.Hour, Closed: &experiment.ClosedLoad{Users: 1}})
	at := time.Duration(0)
	b.ReportAllocs()
	for b.Loop() {
		r.shard(0).offer(0, at)
		r.shard(0).send(0, at, at+1000)
		r.shard(0).done(0, at, at+1000, at+500_000, outcome{status: 200})
		if at += 20_000; at%(100*ms) == 0 {
			r.recycle(r.closeSlices(at, false))
		}
	}
}
