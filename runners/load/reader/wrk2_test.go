package reader

import (
	"strings"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

func TestWrk2AgainstTarget(t *testing.T) {
	for _, c := range []struct {
		file    string
		values  map[string]float64
		mixed   map[string]float64
		unknown string
		notes   []string
	}{
		{
			file:   "wrk2/latency.txt",
			values: map[string]float64{"requests_done": 1143},
			mixed: map[string]float64{
				"latency_p50": 3.933e-3, "latency_p90": 2.646015, "latency_p95": 3.035135,
				"latency_p99": 3.42, "latency_p999": 3.57, "latency_max": 3.567616,
			},
			unknown: "service_time_p50",
			notes:   []string{"the latencies are of 205 of 1143 requests", "5 timeouts are no number of requests", "22 responses above 399"},
		},
		{
			file:   "wrk2/u_latency.txt",
			values: map[string]float64{"requests_done": 577},
			mixed: map[string]float64{
				"latency_p50": 3.429e-3, "latency_p99": 3.23, "latency_max": 3.301376,
				"service_time_p50": 2.331e-3, "service_time_p95": 2.587e-3, "service_time_p99": 13.58e-3, "service_time_max": 2.000896,
			},
			notes: []string{"the latencies are of 114 of 577 requests", "1 timeouts are no number of requests"},
		},
	} {
		t.Run(c.file, func(t *testing.T) {
			truth := truthOf(t, c.file)
			out := mustRead(t, wrk2(), reference(t, c.file), experiment.Span{})
			wellFormed(t, out)
			// Late responses are among those with status 200: wrk2 does not tell which.
			wantDone(t, out, truth.Statuses["200"], truth.Statuses["500"])
			wantValues(t, out, c.values)
			wantMixed(t, out, c.mixed)
			wantUnknown(t, out, "offered", "-R")
			if c.unknown != "" {
				wantUnknown(t, out, c.unknown, "--u_latency")
			}
			for _, text := range c.notes {
				wantNote(t, out, experiment.SeverityWarn, text)
			}
			cutAnywhere(t, wrk2(), c.file, "Transfer/sec:")
		})
	}
}

func TestWrk2LongRunAndShortRun(t *testing.T) {
	text := reference(t, "wrk2/latency.txt")
	long := strings.NewReplacer("1143 requests in 12.00s", "114300 requests in 20.00m", "95.23", "95.25", "=          205]", "=       113340]").Replace(text)
	out := mustRead(t, wrk2(), long, experiment.Span{})
	wantNote(t, out, experiment.SeverityNote, "the latencies are of 113340 of 114300 requests")
	short := strings.ReplaceAll(text, "  Thread calibration", "  Something else")
	wantNote(t, mustRead(t, wrk2(), short, experiment.Span{}), experiment.SeverityNote, "did not come to the end of its calibration")
}

func TestWrk2WithoutLatency(t *testing.T) {
	text := reference(t, "wrk2/latency.txt")
	begin, end := strings.Index(text, "  Latency Distribution"), strings.Index(text, "  1143 requests")
	out := mustRead(t, wrk2(), text[:begin]+text[end:], experiment.Span{})
	wantMixed(t, out, map[string]float64{"latency_max": 3.57})
	wantUnknown(t, out, "latency_p50", "without --latency")
	wantUnknown(t, out, "service_time_max", "--u_latency")
	wantNote(t, out, experiment.SeverityWarn, "leave out the first 10 s")
}

func TestWrk2WithoutLatenciesTellsNone(t *testing.T) {
	text := strings.ReplaceAll(reference(t, "wrk2/latency.txt"), "=          205]", "=            0]")
	wantUnknown(t, mustRead(t, wrk2(), text, experiment.Span{}), "latency_p50", "")
}

func TestWrk2RefusesWrk(t *testing.T) {
	_, err := wrk2().ReadOutput(strings.NewReader(reference(t, "wrk/latency.txt")), experiment.Span{})
	wantError(t, err, false, "is wanted")
}

func FuzzWrk2(f *testing.F) { fuzzTool(f, wrk2()) }
