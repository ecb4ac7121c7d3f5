package reader

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// bombardier is bombardier (measured: 1.2.6): its JSON (-o json) and its text.
//
// It counts from the real send, and its percentiles (with -l) are of all requests, those
// without a response included. Its usual client, fasthttp, sends a request again whose
// connection failed or timed out, and tells of neither: the request counts once, with
// the time of all its attempts.
func bombardier() tool {
	return tool{name: "bombardier", formats: "its JSON (-o json) or its text", detect: func(data []byte) format {
		switch {
		case hasText(data, bombardierJSONBegin):
			return bombardierJSON
		case hasText(data, "Bombarding ", "Statistics        Avg"):
			return asText(bombardierText)
		}
		return nil
	}}
}

const bombardierJSONBegin = `{"spec":{`

// bombardierReport is the JSON. Times are in µs where the name does not tell them.
type bombardierReport struct {
	Spec struct {
		Type     string   `json:"testType"`
		URL      string   `json:"url"`
		Stream   bool     `json:"stream"`
		Client   string   `json:"client"`
		Timeout  float64  `json:"timeoutSeconds"`
		Rate     *float64 `json:"rate"`
		Requests int64    `json:"numberOfRequests"`
	} `json:"spec"`
	Result struct {
		Read    int64            `json:"bytesRead"`
		Written int64            `json:"bytesWritten"`
		Seconds float64          `json:"timeTakenSeconds"`
		S1xx    int64            `json:"req1xx"`
		S2xx    int64            `json:"req2xx"`
		S3xx    int64            `json:"req3xx"`
		S4xx    int64            `json:"req4xx"`
		S5xx    int64            `json:"req5xx"`
		Others  int64            `json:"others"`
		Errors  []bombardierKind `json:"errors"`
		Latency struct {
			Max         float64            `json:"max"`
			Percentiles map[string]float64 `json:"percentiles"`
		} `json:"latency"`
	} `json:"result"`
}

type bombardierKind struct {
	Text  string `json:"description"`
	Count int64  `json:"count"`
}

// bombardierCounts are requests done.
type bombardierCounts struct {
	classes [5]int64 // of statuses, 1xx first
	others  int64    // other statuses, or none
	errors  []bombardierKind
}

func (c *bombardierCounts) done() int64 {
	sum := c.others
	for _, n := range c.classes {
		sum += n
	}
	return sum
}

func (c *bombardierCounts) ok() int64 { return c.classes[1] + c.classes[2] }

// check refuses what is no count.
func (c *bombardierCounts) check() error {
	for _, n := range append(c.classes[:], c.others) {
		if n < 0 || n > 1<<53 {
			return fmt.Errorf("%d requests of one kind", n)
		}
	}
	if c.done() == 0 {
		return incomplete("it tells of no request")
	}
	return nil
}

// tell sets what needs no length of a window.
func (c *bombardierCounts) tell(out *result) {
	out.Statuses, out.Errors = map[string]int64{}, map[string]int64{}
	for i, n := range c.classes {
		if n > 0 {
			out.Statuses[fmt.Sprintf("%dxx", i+1)] = n
		}
	}
	if bad := c.done() - c.ok() - c.others; bad > 0 {
		out.Errors[experiment.FailureStatus] = bad
	}
	left := c.others
	for _, e := range c.errors {
		if n := min(e.Count, left); n > 0 {
			out.Errors[failureOfGo(e.Text)] += n
			left -= n
		}
	}
	if left > 0 {
		out.Errors[experiment.FailureOther] += left
	}
	done, failed := c.done(), c.done()-c.ok()
	out.Total = experiment.Totals{Offered: done, Sent: done, OK: c.ok(), Failed: failed, Statuses: out.Statuses, Errors: out.Errors}
	out.set("requests_done", float64(done))
	out.set("error_rate", float64(failed)/float64(done))
	out.unknown("sent", "requests that were sent again, and those open at the end, are not told")
	out.unknown("unfinished", "requests that are open at the end are not told")
	out.unknownAll("failed_latency_", "successes and failures are not told apart")
}

// mixed tells which outcomes the times are of.
func (c *bombardierCounts) mixed(out *result) {
	failed := c.done() - c.ok()
	out.mixed(failed, c.done(), fmt.Sprintf("failures (%d without a response)", c.others), "")
}

// bombardierJSON reads the JSON. Text of its progress may stand before.
func bombardierJSON(data []byte, span experiment.Span) (*result, error) {
	var v bombardierReport
	if err := json.NewDecoder(bytes.NewReader(data[bytes.Index(data, []byte(bombardierJSONBegin)):])).Decode(&v); err != nil {
		if strings.Contains(err.Error(), "unexpected EOF") || strings.Contains(err.Error(), "unexpected end") {
			return nil, incomplete("its JSON is cut off")
		}
		return nil, fmt.Errorf("it is no JSON of bombardier: %s", quoteError(err))
	}
	c := bombardierCounts{
		classes: [5]int64{v.Result.S1xx, v.Result.S2xx, v.Result.S3xx, v.Result.S4xx, v.Result.S5xx},
		others:  v.Result.Others, errors: v.Result.Errors,
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	out := newResult("bombardier", "json")
	if err := out.lasted(v.Result.Seconds); err != nil {
		return nil, err
	}
	c.tell(out)
	out.set("throughput", float64(c.ok())/v.Result.Seconds)
	out.set("bytes_received", float64(v.Result.Read)/v.Result.Seconds)
	out.set("bytes_sent", float64(v.Result.Written)/v.Result.Seconds)
	v.times(out)
	c.mixed(out)
	v.again(out, c.done())
	wholeRun(out, span)
	return out, nil
}

// times sets the quantiles. Those of a run without a rate are of a closed loop.
func (v *bombardierReport) times(out *result) {
	set := out.setClosed
	if v.Spec.Rate != nil {
		set = func(q string, value float64) { out.set("service_time_"+q, value) }
		out.unknown("offered", "bombardier tells the rate that it was asked for, and not what it left out of it")
	} else {
		out.unknown("offered", "a closed loop has no arrivals")
	}
	for _, q := range experiment.Quantiles() {
		if us, told := v.Result.Latency.Percentiles[strings.TrimPrefix(q.Name, "p")]; told && q.Q < 0.999 {
			set(q.Name, us/1e6)
		}
	}
	set("max", v.Result.Latency.Max/1e6)
	bombardierUntold(out)
	if v.Spec.Rate != nil {
		out.unknownAll("latency_", "at a rate (-r) bombardier counts from the real send")
	}
}

func bombardierUntold(out *result) {
	why := "bombardier tells p50, p75, p90, p95 and p99 alone"
	if !out.has("service_time_p50") {
		why = "bombardier ran without -l"
	}
	out.unknownAll("service_time_", why)
	out.unknownAll("latency_", why)
}

// again warns where there is evidence that requests were sent again.
func (v *bombardierReport) again(out *result, done int64) {
	if v.Spec.Client != "fasthttp" {
		return
	}
	var evidence []string
	if longest := v.Result.Latency.Max / 1e6; v.Spec.Timeout > 0 && longest >= v.Spec.Timeout {
		evidence = append(evidence, fmt.Sprintf("the longest took %.4g s, and the timeout is %.4g s", longest, v.Spec.Timeout))
	}
	whole := v.Spec.Type == "number-of-requests" && !v.Spec.Stream && strings.HasPrefix(v.Spec.URL, "http:") && v.Result.Others == 0
	if each := float64(v.Result.Written) / float64(done); whole && each != math.Trunc(each) {
		evidence = append(evidence, fmt.Sprintf("%d B were written for %d requests of one length, %.2f B each", v.Result.Written, done, each))
	}
	if len(evidence) > 0 {
		out.warn("requests were sent again, which bombardier does not tell (%s): those that failed at first count as successes", strings.Join(evidence, "; "))
		return
	}
	out.note(bombardierAgain)
}

const bombardierAgain = "bombardier's usual client (fasthttp) sends a request again whose connection failed or timed out, and does not tell: it counts as one, and as a success"

var (
	bombardierStats   = regexp.MustCompile(`^Statistics\s+Avg\s+Stdev\s+Max`)
	bombardierRate    = regexp.MustCompile(`^\s+Reqs/sec\s+([0-9.]+)`)
	bombardierLatency = regexp.MustCompile(`^\s+Latency\s+\S+\s+\S+\s+([0-9.]+[a-zµ]+)\s*$`)
	bombardierCodes   = regexp.MustCompile(`^\s+1xx - (\d+), 2xx - (\d+), 3xx - (\d+), 4xx - (\d+), 5xx - (\d+)`)
	bombardierOthers  = regexp.MustCompile(`^\s+others - (\d+)`)
	bombardierError   = regexp.MustCompile(`^\s{4}(\S.*) - (\d+)$`)
	bombardierBytes   = regexp.MustCompile(`^\s+Throughput:\s+\S+/s`)
)

// bombardierText reads the text. It does not tell how long the run took.
func bombardierText(lines []string, span experiment.Span) (*result, error) {
	codes, others := firstMatch(lines, bombardierCodes), firstMatch(lines, bombardierOthers)
	if firstMatch(lines, bombardierStats) == nil || codes == nil || others == nil || firstMatch(lines, bombardierBytes) == nil {
		return nil, incomplete("its statistics are missing: bombardier was stopped before")
	}
	c := bombardierCounts{others: count(others[1]), errors: bombardierErrors(lines)}
	for i := range c.classes {
		c.classes[i] = count(codes[i+1])
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	out := newResult("bombardier", "text")
	c.tell(out)
	if m := firstMatch(lines, bombardierRate); m != nil {
		if rate, ok := number(m[1]); ok {
			out.set("throughput", rate*float64(c.ok())/float64(c.done()))
			out.note("the text has no length of the run: throughput is the mean of bombardier's samples of its rate (%.4g/s), times the share of successes", rate)
		}
	}
	why := "the text does not tell how long the run took"
	out.unknown("bytes_received", "the text has the sum of bytes sent and received alone")
	out.unknown("bytes_sent", "the text has the sum of bytes sent and received alone")
	out.unknown("in_flight", why)
	out.unknown("offered", "the text does not tell whether it paced (-r)")
	bombardierTimes(out, lines)
	c.mixed(out)
	out.note(bombardierAgain)
	wholeRun(out, span)
	return out, nil
}

func bombardierTimes(out *result, lines []string) {
	names := map[string]string{"50": "p50", "90": "p90", "95": "p95", "99": "p99"}
	for _, line := range lines {
		if m := wrkQuantile.FindStringSubmatch(line); m != nil && names[m[1]] != "" && !out.has("service_time_"+names[m[1]]) {
			out.setText("service_time_"+names[m[1]], m[2], seconds)
		}
	}
	if m := firstMatch(lines, bombardierLatency); m != nil {
		out.setText("service_time_max", m[1], seconds)
	}
	bombardierUntold(out)
	out.unknownAll("latency_", "bombardier counts from the real send, and its text does not tell whether it paced (-r)")
}

// bombardierErrors are the lines under "Errors:".
func bombardierErrors(lines []string) (out []bombardierKind) {
	inside := false
	for _, line := range lines {
		if strings.HasPrefix(line, "  Errors:") {
			inside = true
		} else if m := bombardierError.FindStringSubmatch(line); inside && m != nil {
			out = append(out, bombardierKind{Text: m[1], Count: count(m[2])})
		} else {
			inside = false
		}
	}
	return out
}
