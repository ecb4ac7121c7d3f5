package reader

import (
	"fmt"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

// Quantiles over all outcomes are those of successes, near enough, while failures are
// few: at 1% of the requests, and no longer above it.
func TestMixed(t *testing.T) {
	read := func(t *testing.T, of tool, text string) experiment.LoadResult {
		out := mustRead(t, of, text, experiment.Span{})
		wellFormed(t, out)
		return out
	}
	heyText := func(ok, bad int) string {
		return fmt.Sprintf("\nSummary:\n  Total:\t1.0000 secs\n  Slowest:\t0.0500 secs\n  Requests/sec:\t%d.0000\n\n"+
			"Latency distribution:\n  50%% in 0.0100 secs\n\nStatus code distribution:\n  [200]\t%d responses\n  [500]\t%d responses\n", ok+bad, ok, bad)
	}
	k6JSON := func(judged int) string {
		return fmt.Sprintf(`{"metrics":{"http_reqs":{"count":1000,"rate":100},"iterations":{"count":1000},`+
			`"http_req_failed":{"passes":10,"fails":%d},"http_req_duration":{"avg":10,"med":10,"max":50}}}`, judged-10)
	}
	for name, c := range map[string]struct {
		of       tool
		text     string
		p50      float64 // 0: unknown
		severity experiment.Severity
		note     string
	}{
		"few":                            {hey(), heyText(990, 10), 0.01, experiment.SeverityNote, "successes and 10 responses above 399 of 1000 requests together"},
		"too many":                       {hey(), heyText(989, 11), 0, experiment.SeverityWarn, "together, and are no metric here: service_time_p50 0.01 s, service_time_max 0.05 s"},
		"few of a summary":               {k6(), k6JSON(1000), 0.01, experiment.SeverityNote, "successes and 10 failures of 1000 requests together"},
		"how many failed is not certain": {k6(), k6JSON(900), 0.01, experiment.SeverityWarn, "does not tell how many of them failed"},
	} {
		t.Run(name, func(t *testing.T) {
			out := read(t, c.of, c.text)
			if v, _ := observed(out, "service_time_p50"); v != c.p50 {
				t.Errorf("service_time_p50 is %g, want %g", v, c.p50)
			}
			wantNote(t, out, c.severity, c.note)
		})
	}
}
