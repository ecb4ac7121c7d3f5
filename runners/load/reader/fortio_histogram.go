package reader

import (
	"fmt"
	"math"

	"github.com/ceteris/ceteris/experiment"
)

// fortioHistogram is a distribution in seconds (stats.HistogramData).
type fortioHistogram struct {
	Count         int64
	Min, Max, Sum float64
	Data          []fortioInterval
	Percentiles   []fortioQuantile
}

type fortioInterval struct {
	Start, End float64
	Count      int64
}

type fortioQuantile struct{ Percentile, Value float64 }

// valid reports whether the buckets hold all values, in order.
func (h *fortioHistogram) valid() bool {
	sum, before := int64(0), 0.0
	for _, b := range h.Data {
		if b.Count < 0 || b.Count > 1<<53 || math.IsNaN(b.Start) || b.Start < before || b.End < b.Start {
			return false
		}
		sum, before = sum+b.Count, b.End
	}
	return sum == h.Count && sum > 0
}

// without gives the distribution of what is not in another one: what is left in each
// bucket. The outer buckets are cut at the least and the largest value, so that only one
// end of them is alike. mixed is true, and the distribution the same, where buckets are
// missing; it is nil where nothing is left.
func (h *fortioHistogram) without(o *fortioHistogram) (left *fortioHistogram, mixed bool) {
	switch {
	case o.Count == h.Count:
		return nil, false
	case !h.valid():
		return h, o.Count > 0
	case o.Count == 0:
		return h, false
	case !o.valid():
		return h, true
	}
	out := &fortioHistogram{Count: h.Count - o.Count, Min: h.Min, Max: h.Max}
	if o.Max >= h.Max {
		out.Max = math.NaN() // the longest call failed
	}
	next := 0
	for _, b := range h.Data {
		for next < len(o.Data) && o.Data[next].Start >= b.Start && o.Data[next].End <= b.End {
			b.Count -= o.Data[next].Count
			next++
		}
		if b.Count < 0 {
			return h, true
		}
		if b.Count > 0 {
			out.Data = append(out.Data, b)
		}
	}
	if next < len(o.Data) {
		return h, true
	}
	return out, false
}

// asWritten sets the quantiles that fortio wrote.
func (h *fortioHistogram) asWritten(out *result, prefixes []string) {
	names := map[float64]string{50: "p50", 90: "p90", 95: "p95", 99: "p99", 99.9: "p999"}
	for _, prefix := range prefixes {
		out.unknownAll(prefix, "fortio was not asked for it (-p), and wrote no buckets")
		for _, p := range h.Percentiles {
			if name := names[p.Percentile]; name != "" && !out.has(prefix+name) {
				out.set(prefix+name, p.Value)
			}
		}
		out.set(prefix+"max", h.Max)
	}
}

// tell sets all quantiles, interpolated as fortio does it (stats.CalcPercentile), and
// tells how wide the buckets are in which they lie.
func (h *fortioHistogram) tell(out *result, prefixes []string) {
	if !h.valid() {
		h.asWritten(out, prefixes)
		return
	}
	widest, at := 0.0, ""
	for _, q := range experiment.Quantiles() {
		v, b := h.quantile(q.Q)
		for _, prefix := range prefixes {
			if math.IsNaN(v) {
				out.unknown(prefix+q.Name, "the longest call failed: how long the longest success took is not told")
				continue
			}
			out.set(prefix+q.Name, v)
		}
		if width := (b.End - b.Start) / b.End; q.Q < 1 && b.End > 0 && width > widest {
			widest, at = width, fmt.Sprintf("%s%s lies somewhere from %.4g to %.4g s", prefixes[0], q.Name, b.Start, b.End)
		}
	}
	switch {
	case widest > 0.1:
		out.warn("its quantiles are interpolated in buckets: %s (-r makes them finer)", at)
	case widest > 0.01:
		out.note("its quantiles are interpolated in buckets: %s", at)
	}
}

func (h *fortioHistogram) quantile(q float64) (float64, fortioInterval) {
	before := 1 / float64(h.Count)
	if q >= 1 {
		return h.Max, h.Data[len(h.Data)-1]
	}
	if q <= before {
		return h.Min, h.Data[0]
	}
	sum := int64(0)
	for _, b := range h.Data {
		sum += b.Count
		share := float64(sum) / float64(h.Count)
		if q <= share {
			return b.Start + (q-before)/(share-before)*(b.End-b.Start), b
		}
		before = share
	}
	return h.Max, h.Data[len(h.Data)-1]
}
