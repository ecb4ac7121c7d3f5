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

// distribution is an HDR histogram of durations: whole microseconds from 1 to
// 1 h, 3 significant digits. Shorter ones are entered as 1 µs; longer ones at the
// limit, and counted. The zero value is empty, and takes its memory (190 kB) with the
// first value.
type distribution struct {
	hdr      *hdrhistogram.Histogram
	overflow int64
}

// reserve takes the memory at once.
func (d *distribution) reserve() {
	d.hdr = hdrhistogram.New(1, int64(histogramLimit/histogramUnit), histogramDigits)
}

func (d *distribution) add(t time.Duration) {
	if d.hdr == nil {
		d.reserve()
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

func (d *distribution) count() int64 {
	if d.hdr == nil {
		return 0
	}
	return d.hdr.TotalCount()
}

// merge adds the values of another one.
func (d *distribution) merge(o *distribution) {
	if o.hdr == nil {
		return
	}
	if d.hdr == nil {
		d.reserve()
	}
	d.hdr.Merge(o.hdr)
	d.overflow += o.overflow
}

// quantile gives the value in seconds below which the share q lies; the largest
// for q = 1.
func (d *distribution) quantile(q float64) float64 {
	v := time.Duration(d.hdr.ValueAtQuantile(q*100)) * histogramUnit
	return min(v, histogramLimit).Seconds()
}

// encode gives the V2 compressed form.
func (d *distribution) encode(phase experiment.Phase, request string, kind experiment.HistogramKind) (experiment.Histogram, error) {
	text, err := d.hdr.EncodeV2()
	if err != nil {
		return experiment.Histogram{}, fmt.Errorf("encode histogram %s: %w", kind, err)
	}
	blob, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		return experiment.Histogram{}, fmt.Errorf("encode histogram %s: %w", kind, err)
	}
	return experiment.Histogram{Phase: phase, Request: request, Kind: kind, Count: d.count(), Overflow: d.overflow, Blob: blob}, nil
}
