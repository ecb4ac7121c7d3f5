package load

import (
	"encoding/base64"
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ceteris/ceteris/experiment"
)

// The range of every histogram.
const (
	histogramUnit   = time.Microsecond
	histogramLimit  = time.Hour
	histogramDigits = 3
)

// Distribution is an HDR histogram of durations: whole microseconds from 1 to
// 1 h, 3 significant digits. Shorter ones are entered as 1 µs; longer ones at the
// limit, and counted. The zero value is empty, and takes its memory (190 kB) with the
// first value.
type Distribution struct {
	hdr      *hdrhistogram.Histogram
	overflow int64
}

// Reserve takes the memory at once.
func (d *Distribution) Reserve() {
	d.hdr = hdrhistogram.New(1, int64(histogramLimit/histogramUnit), histogramDigits)
}

// Add enters a value, rounded to the unit.
func (d *Distribution) Add(t time.Duration) {
	if d.hdr == nil {
		d.Reserve()
	}
	if t > histogramLimit {
		t = histogramLimit
		d.overflow++
	}
	v := max(int64((t+histogramUnit/2)/histogramUnit), 1)
	if err := d.hdr.RecordValue(v); err != nil {
		panic("load: record: " + err.Error()) // a broken invariant: the value is in range
	}
}

// Count is the number of values.
func (d *Distribution) Count() int64 {
	if d.hdr == nil {
		return 0
	}
	return d.hdr.TotalCount()
}

// Reset makes the distribution empty, and keeps its memory.
func (d *Distribution) Reset() {
	if d.hdr != nil {
		d.hdr.Reset()
	}
	d.overflow = 0
}

// Merge adds the values of another one.
func (d *Distribution) Merge(o *Distribution) {
	if o.hdr == nil {
		return
	}
	if d.hdr == nil {
		d.Reserve()
	}
	d.hdr.Merge(o.hdr)
	d.overflow += o.overflow
}

// Quantile gives the value in seconds below which the share q lies (at least one value is there); the largest
// for q = 1.
func (d *Distribution) Quantile(q float64) float64 {
	v := time.Duration(d.hdr.ValueAtQuantile(q*100)) * histogramUnit
	return min(v, histogramLimit).Seconds()
}

// Encode gives the V2 compressed form.
func (d *Distribution) Encode(phase experiment.Phase, request string, kind experiment.HistogramKind) (experiment.Histogram, error) {
	text, err := d.hdr.EncodeV2()
	if err != nil {
		return experiment.Histogram{}, fmt.Errorf("encode histogram %s: %w", kind, err)
	}
	blob, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		return experiment.Histogram{}, fmt.Errorf("encode histogram %s: %w", kind, err)
	}
	return experiment.Histogram{Phase: phase, Request: request, Kind: kind, Count: d.Count(), Overflow: d.overflow, Blob: blob}, nil
}
