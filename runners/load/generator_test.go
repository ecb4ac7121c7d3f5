package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ceteris/ceteris/experiment"
)

// memory is an HTTP server over in-memory connections, for synctest bubbles. It
// answers the n-th request (from 0, over all connections) as reply says.
type memory struct {
	reply func(n int) (delay time.Duration, answer string)
	mu    sync.Mutex
	seen  int
	paths map[string]int
	asked []string       // methods and paths, in order
	dials map[string]int // by address
	wait  sync.WaitGroup
}

func (m *memory) dial(_ context.Context, _, address string) (net.Conn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dials == nil {
		m.dials = map[string]int{}
	}
	m.dials[address]++
	client, server := net.Pipe()
	m.wait.Go(func() { m.serve(server) })
	return client, nil
}

func (m *memory) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return
		}
		m.mu.Lock()
		n := m.seen
		m.seen++
		m.asked = append(m.asked, req.Method+" "+req.URL.RequestURI())
		if m.paths != nil {
			m.paths[req.URL.Path]++
		}
		m.mu.Unlock()
		delay, answer := m.reply(n)
		time.Sleep(delay)
		if _, err := io.WriteString(c, answer); err != nil || answer == "" {
			return
		}
	}
}

// feed makes data for a load that wants some: rows of "COLUMN-N".
func feed(t testing.TB, l experiment.Load) *Feed {
	t.Helper()
	if l.Data == nil {
		return nil
	}
	text := strings.Join(l.Data.Columns, ",") + "\n"
	for n := range l.Data.Rows {
		text += strings.Join(l.Data.Columns, "-"+strconv.Itoa(n)+",") + "-" + strconv.Itoa(n) + "\n"
	}
	f, err := ParseFeed([]byte(text), *l.Data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// get is one kind of request without a name.
func get(t testing.TB, path string) []experiment.Request {
	t.Helper()
	return []experiment.Request{{Method: "GET", Weight: 1, Path: template(t, path)}}
}

// bubble runs a load against a memory server in a synctest bubble, and hands
// over result and events, with moments from the start of the load.
func bubble(t *testing.T, l experiment.Load, m *memory, check func(t *testing.T, r experiment.LoadResult, phases map[experiment.Phase]time.Duration)) {
	t.Helper()
	l.KeepAlive = true
	if l.Targets == nil {
		l.Targets = []string{"memory:80"}
	}
	if l.Requests == nil {
		l.Requests = get(t, "/${random:1..1000}")
	}
	if l.Connections == 0 {
		l.Connections = l.Concurrency()
	}
	if f := checkPlan(l); len(f) > 0 {
		t.Fatal(f)
	}
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		start := time.Now()
		if err := (Generator{Load: l, Data: feed(t, l), Dial: m.dial, Out: &out, coarse: true}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		m.wait.Wait()
		phases := map[experiment.Phase]time.Duration{}
		r, err := Reader{}.Read(t.Context(), &out, func(e experiment.LoadEvent) {
			if e.Phase != "" {
				phases[e.Phase] = e.At.Sub(start)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		checkArithmetic(t, r, l)
		if int64(m.seen) != r.Total.Sent {
			t.Errorf("the server counted %d requests, the generator sent %d", m.seen, r.Total.Sent)
		}
		check(t, r, phases)
	})
}

// checkArithmetic holds whatever happened.
func checkArithmetic(t testing.TB, r experiment.LoadResult, l experiment.Load) {
	t.Helper()
	x := r.Total
	if x.Offered != x.Sent+x.Dropped+x.Waiting {
		t.Errorf("offered is not sent + dropped + waiting: %+v", x)
	}
	if x.Sent != x.OK+x.Failed+x.Unfinished-x.Waiting {
		t.Errorf("sent is not ok + failed + unfinished: %+v", x)
	}
	var statuses, kinds int64
	for _, n := range x.Statuses {
		statuses += n
	}
	for _, n := range x.Errors {
		kinds += n
	}
	if statuses != x.OK+x.Errors[experiment.FailureStatus]+x.Errors[experiment.FailureBody] || kinds != x.Failed {
		t.Errorf("statuses or errors do not add up: %+v", x)
	}
	checkRequests(t, r, l)
	checkSums(t, r, r.Series)
	if l.Work == 0 && r.Window != l.Window() {
		t.Errorf("a window of %v, want %v", r.Window, l.Window())
	}
}

// checkRequests holds for each name, and all of them are the total.
func checkRequests(t testing.TB, r experiment.LoadResult, l experiment.Load) {
	t.Helper()
	if l.Requests[0].Name == "" {
		if r.Requests != nil {
			t.Errorf("requests without a name are told of: %+v", r.Requests)
		}
		return
	}
	var sum counts
	done := map[string]float64{}
	o := observed(t, r)
	for _, q := range l.Requests {
		x := r.Requests[q.Name]
		if x.Offered != x.Sent+x.Dropped+x.Waiting || x.Sent != x.OK+x.Failed+x.Unfinished-x.Waiting {
			t.Errorf("%s does not add up: %+v", q.Name, x)
		}
		sum.add(&counts{
			offered: x.Offered, sent: x.Sent, dropped: x.Dropped, waiting: x.Waiting, ok: x.OK, failed: x.Failed, unfinished: x.Unfinished, errors: x.Errors,
			traffic: traffic{connects: x.Connects, written: x.BytesSent, received: x.BytesReceived},
		})
		for status, n := range x.Statuses {
			code, _ := strconv.Atoi(status)
			sum.statuses[code] += n
		}
		for _, part := range append(slices.Clone(r.Parts), experiment.LoadPart{Name: ""}) {
			prefix := ""
			if part.Name != "" {
				prefix = part.Name + ":"
			} else if r.Parts != nil {
				continue
			}
			done[prefix+"requests_done"] += o[prefix+"requests_done{"+q.Name+"}"]
			done[prefix+"latency_count"] += o[prefix+"latency_count{"+q.Name+"}"]
		}
	}
	if d := cmp.Diff(sum.totals(), r.Total, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("all requests together (-sum +total):\n%s", d)
	}
	for metric, want := range done {
		if o[metric] != want {
			t.Errorf("%s is %g, of the requests it is %g", metric, o[metric], want)
		}
	}
}

// slowWriter holds up whoever writes to it.
type slowWriter struct {
	io.Writer
	delay time.Duration
}

func (w slowWriter) Write(b []byte) (int, error) {
	time.Sleep(w.delay)
	return w.Writer.Write(b)
}

// A phase begins when it was planned to, not when its line could be written: what is
// counted between two phases (output, say) is cut at these moments.
func TestALateReporterTellsThePlannedTimes(t *testing.T) {
	l := experiment.Load{
		Ramp: 500 * ms, Warmup: 700 * ms, Measure: 2 * time.Second, Timeout: time.Second,
		Closed: &experiment.ClosedLoad{Users: 2}, Targets: []string{"memory:80"}, Requests: get(t, "/"), KeepAlive: true, Connections: 2,
	}
	for _, delay := range []time.Duration{150 * ms, 900 * ms, 5 * time.Second} { // behind by a line, by a phase, by the whole load
		t.Run(delay.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				m := constant(30 * ms)
				start := time.Now().Add(delay) // after the first line
				if err := (Generator{Load: l, Dial: m.dial, Out: slowWriter{&out, delay}, coarse: true}).Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				m.wait.Wait()
				var got []experiment.LoadEvent
				if _, err := (Reader{}).Read(t.Context(), &out, func(e experiment.LoadEvent) {
					if e.Phase != "" && e.Phase != experiment.PhaseDone {
						got = append(got, e)
					}
				}); err != nil {
					t.Fatal(err)
				}
				want := Timeline(start, l)
				if d := cmp.Diff(got, want[:len(want)-1]); d != "" {
					t.Errorf("phases (-got +want):\n%s", d)
				}
			})
		})
	}
}

func constant(delay time.Duration) *memory {
	return &memory{reply: func(int) (time.Duration, string) { return delay, ok2 }}
}

func TestPhasesComeAtTheirTimes(t *testing.T) {
	l := experiment.Load{
		Ramp: 2 * time.Second, Warmup: 3 * time.Second, Measure: 4 * time.Second, Timeout: time.Second,
		Closed: &experiment.ClosedLoad{Users: 4, Think: 70 * ms},
	}
	bubble(t, l, constant(30*ms), func(t *testing.T, _ experiment.LoadResult, phases map[experiment.Phase]time.Duration) {
		done := phases[experiment.PhaseDone]
		delete(phases, experiment.PhaseDone)
		want := map[experiment.Phase]time.Duration{
			experiment.PhaseRamp: 0, experiment.PhaseWarmup: 2 * time.Second,
			experiment.PhaseMeasure: 5 * time.Second, experiment.PhaseDrain: 9 * time.Second,
		}
		if d := cmp.Diff(phases, want); d != "" {
			t.Errorf("(-got +want):\n%s", d)
		}
		if done < 9*time.Second || done > 9*time.Second+30*ms {
			t.Errorf("drain ended at %v, want it as soon as all is done", done)
		}
	})
}

func TestClosedLoadIsExact(t *testing.T) {
	l := experiment.Load{Measure: 4 * time.Second, Timeout: time.Second, Closed: &experiment.ClosedLoad{Users: 4, Think: 10 * ms}}
	bubble(t, l, constant(30*ms), func(t *testing.T, r experiment.LoadResult, _ map[experiment.Phase]time.Duration) {
		want := map[string]float64{
			"throughput": 100, "offered": 100, "sent": 100, "error_rate": 0, "unfinished": 0, "in_flight": 3, "requests_done": 400,
			"latency_count": 400, "latency_p50": 0.03, "latency_max": 0.03, "service_time_p99": 0.03, "lateness_p99": 1e-6,
		}
		got := observed(t, r)
		for m, v := range want {
			if x, ok := got[m]; !ok || math.Abs(x-v) > 0.001*v {
				t.Errorf("%s is %g, want %g", m, x, v)
			}
		}
		if _, ok := got["dropped"]; ok {
			t.Error("a closed load drops nothing")
		}
	})
}

func TestUsersStartOverTheRamp(t *testing.T) {
	l := experiment.Load{
		Ramp: time.Second, Measure: time.Second, Timeout: time.Second,
		Closed: &experiment.ClosedLoad{Users: 10, Think: time.Minute},
	}
	bubble(t, l, constant(ms), func(t *testing.T, r experiment.LoadResult, _ map[experiment.Phase]time.Duration) {
		var got []int64
		for _, p := range r.Series {
			if p.Metric == "offered" && p.Value > 0 {
				got = append(got, p.AtMS)
			}
		}
		if d := cmp.Diff(got, []int64{-1000, -900, -800, -700, -600, -500, -400, -300, -200, -100}); d != "" {
			t.Errorf("first requests in the slices at (-got +want):\n%s", d)
		}
	})
}

func TestUsersTakeTurnsOnFewConnections(t *testing.T) {
	l := experiment.Load{Measure: 2 * time.Second, Timeout: time.Second, Connections: 2, Closed: &experiment.ClosedLoad{Users: 8}}
	bubble(t, l, constant(25*ms), func(t *testing.T, r experiment.LoadResult, _ map[experiment.Phase]time.Duration) {
		got := observed(t, r)
		want := map[string]float64{"throughput": 80, "in_flight": 8, "latency_p50": 0.1, "service_time_p50": 0.025, "lateness_p99": 0.075, "unfinished": 0}
		for m, v := range want {
			if math.Abs(got[m]-v) > 0.015*v {
				t.Errorf("%s is %g, want %g", m, got[m], v)
			}
		}
	})
}

func TestOpenLoadDropsAboveInFlight(t *testing.T) {
	l := experiment.Load{Warmup: 500 * ms, Measure: 2 * time.Second, Timeout: time.Second, Open: &experiment.OpenLoad{Rate: 1000, InFlight: 10}}
	const service = 50*ms + 500*time.Microsecond
	var ends []time.Duration // the truth, by the schedule
	var accepted, dropped int64
	for at := time.Duration(0); at < l.Warmup+l.Measure; at += ms {
		ends = slices.DeleteFunc(ends, func(end time.Duration) bool { return end <= at })
		full := len(ends) == l.Open.InFlight
		if !full {
			ends = append(ends, at+service)
		}
		switch {
		case at < l.Warmup:
		case full:
			dropped++
		default:
			accepted++
		}
	}
	bubble(t, l, constant(service), func(t *testing.T, r experiment.LoadResult, _ map[experiment.Phase]time.Duration) {
		got := observed(t, r)
		want := map[string]float64{"offered": 1000, "sent": float64(accepted) / 2, "dropped": float64(dropped) / 2000}
		for m, v := range want {
			if math.Abs(got[m]-v) > 1e-9 {
				t.Errorf("%s is %g, want %g", m, got[m], v)
			}
		}
		if got["latency_max"] > 0.0506 {
			t.Errorf("a request waited: %g s", got["latency_max"])
		}
	})
}

func TestOpenLoadRampsItsRate(t *testing.T) {
	l := experiment.Load{Ramp: 2 * time.Second, Measure: time.Second, Timeout: time.Second, Open: &experiment.OpenLoad{Rate: 1000, InFlight: 10}}
	bubble(t, l, constant(100*time.Microsecond), func(t *testing.T, r experiment.LoadResult, _ map[experiment.Phase]time.Duration) {
		var halves [3]float64 // two of the ramp, and the window
		for _, p := range r.Series {
			if p.Metric == "offered" {
				halves[(p.AtMS+2000)/1000] += p.Value
			}
		}
		if halves != [3]float64{250, 750, 1000} {
			t.Errorf("offered %v, want 250 and 750 in the halves of the ramp, and 1000", halves)
		}
	})
}

func TestWhatIsOpenWhenDrainEndsIsUnfinished(t *testing.T) {
	// One connection, 0.9 s a request: sent at 0, 0.9, ... 4.5 s; drain ends at 5 s.
	l := experiment.Load{Measure: 2 * time.Second, Timeout: 3 * time.Second, Connections: 1, Open: &experiment.OpenLoad{Rate: 100, InFlight: 1000}}
	bubble(t, l, constant(900*ms), func(t *testing.T, r experiment.LoadResult, phases map[experiment.Phase]time.Duration) {
		want := experiment.Totals{Offered: 200, Sent: 6, Waiting: 194, OK: 5, Unfinished: 195, Connects: 1, Statuses: map[string]int64{"200": 5}}
		if d := cmp.Diff(r.Total, want, cmpopts.IgnoreFields(want, "BytesSent", "BytesReceived")); d != "" {
			t.Errorf("total (-got +want):\n%s", d)
		}
		got := observed(t, r)
		// The 6th to the 200th arrival, at 0.05 to 1.99 s, are 4.95 to 3.01 s old.
		if got["latency_count"] != 200 || math.Abs(got["latency_max"]-4.95) > 0.005 || got["unfinished"] != 195 {
			t.Errorf("got %v", got)
		}
		if at := phases[experiment.PhaseDone]; at != 5*time.Second {
			t.Errorf("drain ended at %v, want 5s", at)
		}
	})
}

func TestTimeoutCountsFromTheRealSend(t *testing.T) {
	l := experiment.Load{Measure: time.Second, Timeout: 200 * ms, Connections: 1, Closed: &experiment.ClosedLoad{Users: 2}}
	bubble(t, l, constant(150*ms), func(t *testing.T, r experiment.LoadResult, _ map[experiment.Phase]time.Duration) {
		got := observed(t, r)
		if r.Total.Failed != 0 || math.Abs(got["latency_p50"]-0.3) > 0.001 {
			t.Errorf("%d failed, latency %g; waiting for a connection is no part of the timeout, but of the latency", r.Total.Failed, got["latency_p50"])
		}
	})
	bubble(t, l, constant(250*ms), func(t *testing.T, r experiment.LoadResult, _ map[experiment.Phase]time.Duration) {
		if r.Total.OK != 0 || r.Total.Errors[experiment.FailureTimeout] != r.Total.Failed || r.Total.Failed == 0 {
			t.Errorf("got %+v, want timeouts", r.Total)
		}
	})
}

// stallGap is how far apart a server that stalled works off what has piled up.
const stallGap = 200 * time.Microsecond

// stallOnce gives the delay of each request: service, except that from the n-th
// request on nothing begins for a second, and what has piled up by then is begun
// in order, stallGap apart.
func stallOnce(n int64, service time.Duration) func(seq int64) time.Duration {
	var (
		mu   sync.Mutex
		next time.Time // no request begins before
	)
	return func(seq int64) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if seq == n {
			next = now.Add(time.Second)
		}
		begin := now
		if next.After(now) {
			begin = next
		}
		next = begin.Add(stallGap)
		return begin.Sub(now) + service
	}
}

// nearestRank gives the smallest value which the share q of all does not exceed.
func nearestRank(sorted []time.Duration, q float64) time.Duration {
	return sorted[max(int(math.Ceil(q*float64(len(sorted))))-1, 0)]
}

// offTruth compares quantiles with those computed from the schedule: 1,000
// arrivals a second, the server of stallOnce stalling at number n of the window.
// It tells of each that is off by more than 2%, and of what did not succeed.
func offTruth(t testing.TB, r experiment.LoadResult, window, service time.Duration, n int) (off []string) {
	t.Helper()
	var truth []time.Duration
	var next time.Duration
	for k := range int(window / ms) {
		at := time.Duration(k) * ms
		if k == n {
			next = at + time.Second
		}
		begin := max(at, next)
		next = begin + stallGap
		truth = append(truth, begin-at+service)
	}
	slices.Sort(truth)
	got := observed(t, r)
	for metric, q := range map[string]float64{"latency_p50": 0.5, "latency_p99": 0.99, "latency_p999": 0.999} {
		want := nearestRank(truth, q).Seconds()
		if d := math.Abs(got[metric]/want - 1); !(d <= 0.02) {
			off = append(off, fmt.Sprintf("%s is %g s, the truth %g s: %.1f%% off", metric, got[metric], want, 100*d))
		}
	}
	if r.Total.Dropped+r.Total.Failed+r.Total.Unfinished > 0 {
		off = append(off, fmt.Sprintf("not all succeeded: %+v", r.Total))
	}
	return off
}

func TestAStallShowsInEveryRequestThatWaited(t *testing.T) {
	l := experiment.Load{Warmup: time.Second, Measure: 10 * time.Second, Timeout: 10 * time.Second, Open: &experiment.OpenLoad{Rate: 1000, InFlight: 2000}}
	const service = 2 * ms
	delay := stallOnce(1000+4000, service)
	m := &memory{reply: func(n int) (time.Duration, string) { return delay(int64(n)), ok2 }}
	bubble(t, l, m, func(t *testing.T, r experiment.LoadResult, _ map[experiment.Phase]time.Duration) {
		for _, off := range offTruth(t, r, l.Measure, service, 4000) {
			t.Error(off)
		}
	})
	t.Run("also where the connections are too few to send", func(t *testing.T) {
		l := l
		l.Connections = 50
		delay := stallOnce(1000+4000, service)
		m := &memory{reply: func(n int) (time.Duration, string) { return delay(int64(n)), ok2 }}
		bubble(t, l, m, func(t *testing.T, r experiment.LoadResult, _ map[experiment.Phase]time.Duration) {
			for _, off := range offTruth(t, r, l.Measure, service, 4000) {
				t.Error(off)
			}
			if got := observed(t, r)["service_time_p99"]; got > 0.9 {
				t.Errorf("99%% of service times are below %g s: only 50 requests were sent into the stall", got)
			}
		})
	})
}

// Whatever the load and however the server behaves, nothing is lost and nothing
// counts twice.
func TestArithmeticHoldsForRandomLoads(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			l := randomLoad(t, rng, time.Second)
			answers := []string{ok2, ok2, ok2, "HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 404 X\r\nConnection: close\r\n\r\n", "what\r\n\r\n", ""}
			worst := time.Duration(2 * float64(l.Timeout) * rng.Float64())
			m := &memory{reply: func(n int) (time.Duration, string) {
				draw := rand.New(rand.NewPCG(seed, uint64(n)))
				return 50*time.Microsecond + time.Duration(float64(worst)*draw.Float64()), answers[draw.IntN(len(answers))]
			}}
			bubble(t, l, m, func(*testing.T, experiment.LoadResult, map[experiment.Phase]time.Duration) {})
		})
	}
}

// randomLoad draws a load of any shape, up to about three times unit in each part.
func randomLoad(t testing.TB, rng *rand.Rand, unit time.Duration) experiment.Load {
	upTo := func(d time.Duration) time.Duration { return time.Duration(rng.Int64N(int64(d))) }
	one := func(of int) bool { return rng.IntN(of) == 0 }
	open := func() experiment.OpenLoad {
		return experiment.OpenLoad{Rate: 1 + 1000*rng.Float64(), InFlight: 1 + rng.IntN(40), Poisson: one(2), Queue: one(2)}
	}
	closed := func() experiment.ClosedLoad {
		return experiment.ClosedLoad{Users: 1 + rng.IntN(30), Think: upTo(50 * ms)}
	}
	l := experiment.Load{Timeout: ms + upTo(unit), Connections: 1 + rng.IntN(20), Seed: rng.Uint64()}
	if one(3) {
		for i := range 1 + rng.IntN(4) {
			p := experiment.LoadPhase{Name: fmt.Sprintf("p%d", i), For: 20*ms + upTo(unit), Measure: i == 0 || one(2)}
			switch rng.IntN(3) {
			case 0:
				p.Closed = new(closed())
			case 1:
				p.Open = new(open())
			}
			if one(2) {
				p.Ramp = upTo(p.For)
			}
			l.Phases = append(l.Phases, p)
		}
		rng.Shuffle(len(l.Phases), func(i, j int) { l.Phases[i], l.Phases[j] = l.Phases[j], l.Phases[i] })
	} else {
		l.Ramp, l.Warmup, l.Measure = upTo(unit), upTo(unit), 20*ms+upTo(3*unit)
		if one(4) {
			l.Steady = l.Warmup + upTo(4*unit)
		}
		if one(4) {
			l.Work = 1 + rng.Int64N(500)
		}
		if one(2) {
			l.Closed = new(closed())
		} else {
			l.Open = new(open())
			for range rng.IntN(3) {
				l.Streams = append(l.Streams, experiment.Stream{After: upTo(unit), Open: open()})
			}
		}
	}
	for range rng.IntN(3) {
		l.Targets = append(l.Targets, fmt.Sprintf("memory-%d:80", len(l.Targets)))
	}
	if one(2) {
		l.Data = &experiment.DataFeed{Columns: []string{"a", "b"}, Rows: 1 + rng.IntN(5)}
		l.Requests = []experiment.Request{
			{Name: "search", Weight: 3, Method: "GET", Path: template(t, "/${random:0..99}?q=${data:b}"), Headers: []experiment.EnvVar{{Name: "X-Of", Value: template(t, "${data:a}")}}},
			{Name: "buy", Weight: 0.5, Method: "POST", Path: template(t, "/${random:0..99}"), Body: template(t, "user=${data:a}&n=${random:1..1000}"), Status: []experiment.Status{{From: 200, To: 204}, {From: 404, To: 404}}},
			{Name: "look", Weight: 1, Method: "GET", Path: template(t, "/${random:0..99}"), Has: template(t, "o")},
		}
	}
	return l
}

func TestTheSeedDecidesThePaths(t *testing.T) {
	paths := func(seed uint64, l experiment.Load) map[string]int {
		m := constant(ms)
		m.paths = map[string]int{}
		l.Seed = seed
		bubble(t, l, m, func(*testing.T, experiment.LoadResult, map[experiment.Phase]time.Duration) {})
		return m.paths
	}
	for name, l := range map[string]experiment.Load{
		"closed": {Measure: time.Second, Timeout: time.Second, Closed: &experiment.ClosedLoad{Users: 3, Think: ms}},
		"open":   {Measure: time.Second, Timeout: time.Second, Open: &experiment.OpenLoad{Rate: 500, InFlight: 50}},
	} {
		first := paths(1, l)
		if d := cmp.Diff(paths(1, l), first); d != "" {
			t.Errorf("%s: the same seed gives other paths:\n%s", name, d)
		}
		if cmp.Equal(paths(2, l), first) {
			t.Errorf("%s: another seed gives the same paths", name)
		}
		if len(first) < 300 {
			t.Errorf("%s: %d different paths of 1000", name, len(first))
		}
	}
}

func TestAnEarlyEndLeavesNoResult(t *testing.T) {
	for name, l := range map[string]experiment.Load{
		"closed":           {Closed: &experiment.ClosedLoad{Users: 3}},
		"few connections":  {Connections: 1, Closed: &experiment.ClosedLoad{Users: 3}},
		"thinking":         {Closed: &experiment.ClosedLoad{Users: 3, Think: time.Hour}},
		"open":             {Open: &experiment.OpenLoad{Rate: 100, InFlight: 50}},
		"open and waiting": {Connections: 1, Open: &experiment.OpenLoad{Rate: 100, InFlight: 50}},
	} {
		t.Run(name, func(t *testing.T) {
			l.Targets, l.Requests, l.KeepAlive, l.Measure, l.Timeout = []string{"memory:80"}, get(t, "/"), true, time.Minute, time.Minute
			l.Connections = max(l.Connections, 1)
			synctest.Test(t, func(t *testing.T) {
				m := constant(700 * ms)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				start := time.Now()
				var out bytes.Buffer
				err := Generator{Load: l, Dial: m.dial, Out: &out, coarse: true}.Run(ctx)
				if !errors.Is(err, ErrInterrupted) {
					t.Errorf("got %v, want ErrInterrupted", err)
				}
				if took := time.Since(start); took != 10*time.Second {
					t.Errorf("it took %v to end", took)
				}
				_, err = Reader{}.Read(t.Context(), &out, nil)
				if !errors.Is(err, experiment.ErrIncomplete) || !strings.Contains(err.Error(), "interrupted") {
					t.Errorf("reader: got %v", err)
				}
				m.wait.Wait()
			})
		})
	}
}

func TestAFailingOutputEndsTheLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := constant(ms)
		l := experiment.Load{
			Targets: []string{"memory:80"}, Requests: get(t, "/"), KeepAlive: true, Connections: 1,
			Measure: time.Minute, Timeout: time.Second, Closed: &experiment.ClosedLoad{Users: 1},
		}
		r, w := io.Pipe()
		go func() {
			_, _ = bufio.NewReader(r).ReadString('\n')
			_ = r.CloseWithError(errors.New("nobody reads"))
		}()
		err := Generator{Load: l, Dial: m.dial, Out: w, coarse: true}.Run(t.Context())
		if err == nil || errors.Is(err, ErrInterrupted) || !strings.Contains(err.Error(), "nobody reads") {
			t.Errorf("got %v", err)
		}
		m.wait.Wait()
	})
}
