package reader

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// k6 is k6 (measured: 2.2; the text as 0.26 to 2.x write it): samples as CSV and JSON,
// summaries as JSON and text.
//
// It counts from the real send, in any executor: what an arrival waited for a VU is in
// no number. http_req_duration leaves out the time to get a connection, which is
// http_req_blocked, with http_req_connecting and http_req_tls_handshaking inside it: a
// service time is the sum of the first two. A sample's time is the end of its request. A
// request failed where k6 did not expect its status (200 to 399, unless the script says
// otherwise); http_req_failed counts a failure as a pass. A request without a response
// has the status 0 and an error_code. Each redirect that is followed is a request.
func k6() tool {
	return tool{
		name:    "k6",
		formats: "samples (--out csv or json, unpacked), a summary (--summary-export, or the data of handleSummary as JSON) or the text at its end",
		detect:  detectK6,
	}
}

func detectK6(data []byte) format {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	has := func(text string) bool { return bytes.Contains(data, []byte(text)) }
	switch {
	case bytes.HasPrefix(line, []byte("metric_name,timestamp,metric_value")):
		return k6CSV
	case bytes.HasPrefix(line, []byte("{")) && (bytes.Contains(line, []byte(`"type":"Metric"`)) || bytes.Contains(line, []byte(`"type":"Point"`))):
		return k6JSON
	case bytes.HasPrefix(line, []byte("{")) && (has(`"metrics"`) || has(`"root_group"`)):
		return asSummary(k6JSONSummary)
	case has("http_reqs..") || has("http_req_duration..") || has("TOTAL RESULTS") || has("execution: local"):
		return asSummary(k6Text)
	}
	return nil
}

// k6Failure gives the kind of a failure. The codes are those of k6's error_codes.go: 1000
// more than a status, or a class of its own.
func k6Failure(status int, code, text string) string {
	n, err := strconv.Atoi(code)
	switch {
	case status > 0:
		return experiment.FailureStatus
	case err != nil, n == 1000: // no class of errors
		return failureOfGo(text)
	case n == 1050, n == 1211: // the response, the connection
		return experiment.FailureTimeout
	case n == 1212:
		return experiment.FailureRefused
	case n == 1220, n == 1201: // broken pipe
		return experiment.FailureReset
	case n >= 1100 && n < 1200, n >= 1210 && n < 1220: // DNS and forbidden hosts, dial
		return experiment.FailureConnect
	case n >= 1300 && n < 1400:
		return experiment.FailureTLS
	case n >= 1400 && n < 1600:
		return experiment.FailureStatus
	case n >= 1600 && n <= 1701: // HTTP/2, content
		return experiment.FailureProtocol
	}
	return failureOfGo(text) // 1010, 1200, 1202: not classified
}

// k6Hides tells what no format of k6 has.
func k6Hides(out *result) {
	out.unknown("lateness_p99", "k6 does not tell when an iteration was due")
	out.unknown("unfinished", "k6 does not tell of requests that it gave up at its end")
	out.unknown("response_bytes", "k6 counts bytes by iteration, those of failures among them")
	out.unknownAll("latency_", notIntended)
	out.unknownAll("failed_latency_", notIntended)
}

// k6Iterations are counts that may be of iterations.
type k6Iterations struct {
	done, requests int64 // in all
	dropped        int64 // in the window
	open           bool  // all executors are known to be open
}

// tell sets what is offered and dropped: known only where an iteration is a request,
// which equal counts show. dropped_iterations is absent, and not 0, both where nothing
// was dropped and where the executor cannot drop.
func (i k6Iterations) tell(out *result) {
	if i.done != i.requests {
		why := fmt.Sprintf("k6 counts iterations, which are no requests here: %d iterations, %d requests", i.done, i.requests)
		out.unknown("offered", why)
		out.unknown("dropped", why)
		if i.dropped > 0 {
			out.warn("k6 did not begin %d iterations: it had too few VUs, or too little time", i.dropped)
		}
		return
	}
	out.Total.Dropped = i.dropped
	out.Total.Offered = out.Total.Sent + i.dropped
	if out.Window > 0 {
		out.set("offered", float64(out.Total.Offered)/out.Window.Seconds())
	}
	switch {
	case i.dropped > 0:
		out.set("dropped", float64(i.dropped)/float64(out.Total.Offered))
		out.warn("offered is iterations and dropped iterations: k6 did not begin %d of %d, for it had too few VUs (or too little time, where their number is given)", i.dropped, out.Total.Offered)
	case i.open:
		out.set("dropped", 0)
	default:
		out.unknown("dropped", "k6 dropped no iteration, and does not tell whether its executor could")
	}
}

// k6Checks tells of checks, which decide of no request here.
func k6Checks(out *result, failed, failedRequests int64) {
	if failed > 0 && failed != failedRequests {
		out.note("%d checks of the script failed, and %d requests: a failed check makes no request a failure", failed, failedRequests)
	}
}

// k6Status reads a status; 0 is none.
func k6Status(text string) int {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 100 || n > 999 {
		return 0
	}
	return n
}
