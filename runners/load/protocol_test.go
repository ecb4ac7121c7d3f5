package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ceteris/ceteris/experiment"
)

func sampleResult() experiment.LoadResult {
	return experiment.LoadResult{
		Observations: []experiment.Observation{
			{Metric: "throughput", Phase: experiment.PhaseMeasure, Value: 1234.5, Unit: experiment.UnitPerSecond},
			{Metric: "latency_p99", Phase: experiment.PhaseMeasure, Value: 0.0123, Unit: experiment.UnitSeconds},
		},
		Series: []experiment.SeriesPoint{
			{Metric: "offered", AtMS: -50, Value: 12},
			{Metric: "offered", AtMS: 0, Value: 13},
			{Metric: "latency_p50", AtMS: 0, Value: 0.001},
			{Service: "app", Metric: "offered", AtMS: 0, Value: 1e-9},
		},
		Histograms: []experiment.Histogram{
			{Phase: experiment.PhaseMeasure, Kind: experiment.HistogramSuccess, Count: 3, Overflow: 1, Blob: []byte{0, 1, 254}},
		},
		Statuses: map[string]int64{"200": 3},
		Errors:   map[string]int64{"timeout": 1},
		Window:   4 * time.Second,
		Total: experiment.Totals{
			Offered: 5, Sent: 4, Dropped: 1, OK: 3, Failed: 1,
			Statuses: map[string]int64{"200": 3}, Errors: map[string]int64{"timeout": 1},
		},
	}
}

func began() time.Time { return time.Date(2026, 11, 3, 12, 0, 0, 123456789, time.UTC) }

func sampleStream(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	l := experiment.Load{Ramp: time.Second, Warmup: 2 * time.Second, Measure: 4 * time.Second}
	if err := Script(&b, sampleResult(), Timeline(began(), l)...); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestScriptIsReadBack(t *testing.T) {
	var events []experiment.LoadEvent
	got, err := Reader{}.Read(t.Context(), bytes.NewReader(sampleStream(t)), func(e experiment.LoadEvent) { events = append(events, e) })
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(got, sampleResult()); d != "" {
		t.Errorf("result (-got +want):\n%s", d)
	}
	at := func(s int) time.Time { return began().Add(time.Duration(s) * time.Second) }
	want := []experiment.LoadEvent{
		{Phase: experiment.PhaseRamp, At: at(0)},
		{Phase: experiment.PhaseWarmup, At: at(1)},
		{Phase: experiment.PhaseMeasure, At: at(3)},
		{Phase: experiment.PhaseDrain, At: at(7)},
		{At: at(7), Series: sampleResult().Series},
		{Phase: experiment.PhaseDone, At: at(7)},
	}
	if d := cmp.Diff(events, want); d != "" {
		t.Errorf("events (-got +want):\n%s", d)
	}
}

func TestTimelineLeavesOutPhasesWithoutLength(t *testing.T) {
	got := Timeline(began(), experiment.Load{Measure: time.Second})
	want := []experiment.LoadEvent{
		{Phase: experiment.PhaseMeasure, At: began()},
		{Phase: experiment.PhaseDrain, At: began().Add(time.Second)},
		{Phase: experiment.PhaseDone, At: began().Add(time.Second)},
	}
	if d := cmp.Diff(got, want); d != "" {
		t.Errorf("(-got +want):\n%s", d)
	}
}

// A load with phases and names, a warm-up of open length, and more histograms than a
// line holds.
func TestAResultOfManyPartsIsReadBack(t *testing.T) {
	l := spike()
	r := sampleResult()
	r.Parts, r.Window = Parts(l), l.Window()
	r.Requests = map[string]experiment.Totals{"buy": {Offered: 2, Sent: 2, OK: 2, Statuses: map[string]int64{"200": 2}}}
	r.Histograms = nil
	for i := range 100 {
		r.Histograms = append(r.Histograms, experiment.Histogram{
			Phase: "spike", Request: fmt.Sprint(i), Kind: experiment.HistogramFailure, Count: 1, Blob: bytes.Repeat([]byte{byte(i)}, 50_000),
		})
	}
	var b bytes.Buffer
	if err := Script(&b, r, Timeline(began(), l)...); err != nil {
		t.Fatal(err)
	}
	var events []experiment.LoadEvent
	got, err := Reader{}.Read(t.Context(), &b, func(e experiment.LoadEvent) {
		if e.Phase != "" {
			events = append(events, e)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(got, r, cmp.Comparer(bytes.Equal)); d != "" {
		t.Errorf("result (-got +want):\n%s", d)
	}
	if d := cmp.Diff(events, Timeline(began(), l)); d != "" {
		t.Errorf("events (-got +want):\n%s", d)
	}
}

func TestAShiftMovesAllSlices(t *testing.T) {
	var b bytes.Buffer
	e := NewEncoder(&b)
	point := func(at int64) []experiment.SeriesPoint {
		return []experiment.SeriesPoint{{Metric: "offered", AtMS: at, Value: 1}}
	}
	for _, err := range []error{
		e.Hello("x"), e.Phase(experiment.PhaseWarmup, "", began()), e.Slices(began(), point(-50)), e.Phase(experiment.PhaseMeasure, "", began()),
		e.Shift(1500 * ms), e.Slices(began(), point(1500)), e.Phase(experiment.PhaseDrain, "", began()), e.Phase(experiment.PhaseDone, "", began()),
		e.Result(experiment.LoadResult{Window: time.Second}), e.End(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := Reader{}.Read(t.Context(), &b, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(got.Series, append(point(-1550), point(0)...)); d != "" {
		t.Errorf("series (-got +want):\n%s", d)
	}
}

func TestPhasesMayNotComeInAnyOrder(t *testing.T) {
	type phase struct {
		phase experiment.Phase
		part  string
	}
	const ramp, warmup, measure, drain, done = experiment.PhaseRamp, experiment.PhaseWarmup, experiment.PhaseMeasure, experiment.PhaseDrain, experiment.PhaseDone
	tests := map[string]struct {
		phases []phase
		ok     bool
	}{
		"only the window":              {[]phase{{measure, ""}, {drain, ""}, {done, ""}}, true},
		"named ones in any order":      {[]phase{{measure, "a"}, {warmup, "b"}, {warmup, "c"}, {measure, "d"}, {drain, ""}, {done, ""}}, true},
		"a named one after a plain":    {[]phase{{warmup, ""}, {measure, "a"}}, false},
		"a plain one after a named":    {[]phase{{warmup, "a"}, {measure, ""}}, false},
		"a named ramp":                 {[]phase{{ramp, "a"}}, false},
		"a named drain":                {[]phase{{measure, "a"}, {drain, "b"}}, false},
		"no drain":                     {[]phase{{measure, "a"}, {done, ""}}, false},
		"a named one after drain":      {[]phase{{measure, "a"}, {drain, ""}, {measure, "b"}}, false},
		"two windows without names":    {[]phase{{measure, ""}, {measure, ""}}, false},
		"a ramp after the window":      {[]phase{{measure, ""}, {ramp, ""}}, false},
		"drain without a window":       {[]phase{{ramp, ""}, {drain, ""}}, false},
		"a phase of no generator":      {[]phase{{experiment.PhaseReady, ""}}, false},
		"warm-up straight at the load": {[]phase{{warmup, ""}, {measure, ""}, {drain, ""}, {done, ""}}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var d decoder
			err := error(nil)
			for _, p := range tt.phases {
				if err = d.takePhase(message{Phase: p.phase, Part: p.part, Time: began()}); err != nil {
					break
				}
			}
			if ok := err == nil; ok != tt.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestManyPointsStayBelowTheLineLimit(t *testing.T) {
	var r experiment.LoadResult
	r.Window = time.Second
	for i := range 50_000 {
		r.Series = append(r.Series, experiment.SeriesPoint{Metric: fmt.Sprintf("latency_of_something_long_%d", i%2), AtMS: int64(i), Value: 1.0 / 3})
	}
	var b bytes.Buffer
	if err := Script(&b, r, Timeline(began(), experiment.Load{Measure: time.Second})...); err != nil {
		t.Fatal(err)
	}
	got, err := Reader{}.Read(t.Context(), &b, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(got, r); d != "" {
		t.Errorf("(-got +want):\n%s", d)
	}
}

func TestEncoderRefusesWhatJSONCannotHold(t *testing.T) {
	r := sampleResult()
	r.Observations[0].Value = math.NaN()
	e := NewEncoder(io.Discard)
	if err := e.Result(r); err == nil {
		t.Error("NaN was encoded")
	}
	if err := e.Hello("x"); err == nil {
		t.Error("the encoder goes on after an error")
	}
}

// resigned makes the numbers and the end right again after edit changed lines,
// so that only the edit itself can be found.
func resigned(t *testing.T, edit func(lines []string) []string) string {
	t.Helper()
	lines := strings.SplitAfter(string(sampleStream(t)), "\n")
	lines = edit(lines[:len(lines)-2]) // without the end
	e := NewEncoder(io.Discard)
	var b strings.Builder
	for i, l := range lines {
		_, rest, _ := strings.Cut(l, ",")
		l = fmt.Sprintf(`{"n":%d,%s`, i+1, rest)
		b.WriteString(l)
		e.sum.Write([]byte(l))
		e.n++
	}
	e.w = &b
	if err := e.End(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The end line is the end: a reader waits for nothing after it, so a generator may
// live on until its counters are read.
func TestNothingAfterTheEndCounts(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close() // never before Read returns
	go func() { _, _ = w.Write(append(sampleStream(t), "goodbye\n"...)) }()
	got, err := Reader{}.Read(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(got, sampleResult()); d != "" {
		t.Errorf("result (-got +want):\n%s", d)
	}
}

func TestIncompleteStreams(t *testing.T) {
	whole := string(sampleStream(t))
	lines := strings.SplitAfter(whole, "\n")
	replace := func(old, repl string) func([]string) []string {
		return func(l []string) []string {
			return strings.SplitAfter(strings.Replace(strings.Join(l, ""), old, repl, 1), "\n")[:len(l)]
		}
	}
	tests := map[string]struct{ in, want string }{
		"empty":                 {"", "ended before its last line"},
		"no end":                {strings.Join(lines[:len(lines)-2], ""), "ended before its last line"},
		"cut inside a line":     {whole[:len(whole)-10], "ended inside a line"},
		"no newline at the end": {strings.TrimSuffix(whole, "\n"), "ended inside a line"},
		"gap":                   {strings.Join(append(append([]string{}, lines[:3]...), lines[4:]...), ""), "line 5 follows"},
		"line twice":            {strings.Join(append(append([]string{}, lines[:3]...), lines[2:]...), ""), "line 3 follows"},
		"changed byte":          {strings.Replace(whole, "1234.5", "1234.6", 1), "checksum"},
		"crash":                 {lines[0] + "panic: boom\n\ngoroutine 1 [running]:\n", `not a line of the protocol: "panic: boom\n\ngoroutine 1 [running]:"`},
		"no hello":              {resigned(t, func(l []string) []string { return l[1:] }), `line 1 is of type "phase"`},
		"second hello":          {resigned(t, func(l []string) []string { return append([]string{l[0]}, l...) }), `line 2 is of type "hello"`},
		"older version":         {resigned(t, replace(`"protocol":2`, `"protocol":1`)), "speaks version 1 of the protocol, and this ceteris version 2"},
		"newer version":         {resigned(t, replace(`"protocol":2`, `"protocol":3`)), "speaks version 3 of the protocol, and this ceteris version 2"},
		"shift of nothing":      {resigned(t, replace(`"type":"slices"`, `"type":"shift"`)), `a shift by 0 ms in phase "drain"`},
		"part without a name":   {resigned(t, replace(`"window_ns":4000000000`, `"window_ns":4000000000,"parts":[{"name":"","begin":0,"window":1}]`)), `a part ""`},
		"unknown type":          {resigned(t, replace(`"type":"slices"`, `"type":"slice"`)), `unknown type of line "slice"`},
		"unknown phase":         {resigned(t, replace(`"phase":"warmup"`, `"phase":"warm"`)), `unknown phase "warm"`},
		"phase twice":           {resigned(t, replace(`"phase":"warmup"`, `"phase":"ramp"`)), `phase "ramp" follows "ramp"`},
		"phase left out":        {resigned(t, func(l []string) []string { return append(append([]string{}, l[:3]...), l[4:]...) }), `phase "drain" follows "warmup"`},
		"result before done":    {resigned(t, func(l []string) []string { return append(append([]string{}, l[:6]...), l[7:]...) }), `a result in phase "drain"`},
		"result twice":          {resigned(t, func(l []string) []string { return append(append([]string{}, l...), l[len(l)-1]) }), `"result" follows the result`},
		"no result":             {resigned(t, func(l []string) []string { return l[:len(l)-1] }), "the end without a result"},
		"no window":             {resigned(t, replace(`"window_ns":4000000000`, `"window_ns":0`)), "without a window"},
		"negative histogram":    {resigned(t, replace(`"count":3`, `"count":-3`)), "a histogram of -3 values"},
		"value out of range":    {resigned(t, replace(`0.0123`, `1e999`)), "not a line of the protocol"},
		"point of three":        {resigned(t, replace(`[0,13]`, `[0,13,1]`)), "not a line of the protocol"},
		"endless line":          {lines[0] + strings.Repeat("x", MaxLine+1), "a line of more than"},
		"absurd number":         {`{"n":99999999999999999999}` + "\n", "not a line of the protocol"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Reader{}.Read(t.Context(), strings.NewReader(tt.in), nil)
			if !errors.Is(err, experiment.ErrIncomplete) {
				t.Fatalf("got %v, want ErrIncomplete", err)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, want it to hold %q", err, tt.want)
			}
		})
	}
}

func TestResignedStreamIsValid(t *testing.T) {
	in := resigned(t, func(l []string) []string { return l })
	if _, err := (Reader{}).Read(t.Context(), strings.NewReader(in), nil); err != nil {
		t.Error(err)
	}
}

func TestAbortTellsWhyAndKeepsWhatWasRead(t *testing.T) {
	var b bytes.Buffer
	e := NewEncoder(&b)
	points := []experiment.SeriesPoint{{Metric: "offered", AtMS: 0, Value: 1}}
	for _, err := range []error{e.Hello("x"), e.Slices(began(), points), e.Abort("interrupted")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := Reader{}.Read(t.Context(), &b, nil)
	if !errors.Is(err, experiment.ErrIncomplete) || !strings.Contains(err.Error(), "gave up: interrupted") {
		t.Errorf("got %v", err)
	}
	if d := cmp.Diff(got.Series, points); d != "" {
		t.Errorf("series (-got +want):\n%s", d)
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	go func() {
		_ = NewEncoder(w).Hello("x")
		cancel()
	}()
	_, err := Reader{}.Read(ctx, r, nil)
	if errors.Is(err, experiment.ErrIncomplete) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want Canceled and not ErrIncomplete", err)
	}
}

// Only the generator can leave its result incomplete. A stream that fails, at the
// begin, inside a line or between two, says nothing about it.
func TestAFailingStreamIsNoFaultOfTheGenerator(t *testing.T) {
	whole := string(sampleStream(t))
	line := strings.IndexByte(whole, '\n') + 1
	engineGone, engineCut := fmt.Errorf("watch the container: %w", io.EOF), fmt.Errorf("logs: %w", io.ErrUnexpectedEOF)
	for name, after := range map[string]int{"at the begin": 0, "inside a line": line + 20, "between two lines": line} {
		t.Run(name, func(t *testing.T) {
			for fault, incomplete := range map[error]bool{
				syscall.EIO: false, net.ErrClosed: false, io.ErrClosedPipe: false,
				engineGone: false, engineCut: false,
				io.ErrUnexpectedEOF: true, io.EOF: true,
			} {
				_, err := Reader{}.Read(t.Context(), io.MultiReader(strings.NewReader(whole[:after]), iotest.ErrReader(fault)), nil)
				if got := errors.Is(err, experiment.ErrIncomplete); err == nil || got != incomplete {
					t.Errorf("%v: got %v, ErrIncomplete is %t, want %t", fault, err, got, incomplete)
				}
				if !incomplete && !errors.Is(err, fault) {
					t.Errorf("got %v, want it to wrap %v", err, fault)
				}
			}
		})
	}
}

func FuzzReader(f *testing.F) {
	whole := sampleStream(f)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(bytes.Join(lines[:len(lines)-2], nil))
	f.Add([]byte("panic: boom\n"))
	f.Add([]byte(`{"n":1,"type":"hello","protocol":2}` + "\n" + `{"n":2,"type":"slices","series":[{"metric":"a","points":[[0,1],null]}]}` + "\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		readBack(t, in)
		e := NewEncoder(io.Discard) // again with a right end, or the checksum would hide all else
		e.n = int64(bytes.Count(in, []byte("\n")))
		e.sum.Write(in)
		signed := bytes.NewBuffer(bytes.Clone(in))
		e.w = signed
		if err := e.End(); err != nil {
			t.Fatal(err)
		}
		readBack(t, signed.Bytes())
	})
}

// readBack reads a stream; if it is whole, it can be written again and reads the
// same.
func readBack(t *testing.T, in []byte) {
	got, err := Reader{}.Read(t.Context(), bytes.NewReader(in), func(experiment.LoadEvent) {})
	if err != nil {
		if !errors.Is(err, experiment.ErrIncomplete) {
			t.Fatalf("error is not ErrIncomplete: %v", err)
		}
		return
	}
	var b bytes.Buffer
	if err := Script(&b, got, Timeline(began(), experiment.Load{Measure: time.Second})...); err != nil {
		t.Fatalf("encode again: %v", err)
	}
	again, err := Reader{}.Read(t.Context(), &b, nil)
	if err != nil {
		t.Fatalf("read again: %v", err)
	}
	if d := cmp.Diff(got, again, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("reads differently when written again (-first +second):\n%s", d)
	}
}
