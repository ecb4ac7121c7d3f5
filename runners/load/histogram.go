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
// limit, and counted.
type distribution struct {
	hdr      *hdrhistogram.Histogram
	overflow int64
}

func newDistribution() distribution {
	return distribution{hdr: hdrhistogram.New(1, int64(histogramLimit/histogramUnit), histogramDigits)}
}

func (d *distribution) add(t time.Duration) {
	if t > histogramLimit {
		t = histogramLimit
		d.overflow++
	}
	v := max(int64((t+histogramUnit/2)/histogramUnit), 1)
	if err := d.hdr.RecordValue(v); err != nil {
		panic("load: record: " + err.Error()) // a broken invariant: the value is in range
	}
}

func (d *distribution) count() int64 { return d.hdr.TotalCount() }

// quantile gives the value in seconds below which the share q lies; the largest
// for q = 1.
func (d *distribution) quantile(q float64) float64 {
	v := time.Duration(d.hdr.ValueAtQuantile(q*100)) * histogramUnit
	return min(v, histogramLimit).Seconds()
}

// encode gives the V2 compressed form.
func (d *distribution) encode(kind experiment.HistogramKind) (experiment.Histogram, error) {
	text, err := d.hdr.EncodeV2()
	if err != nil {
		return experiment.Histogram{}, fmt.Errorf("encode histogram %s: %w", kind, err)
	}
	blob, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		return experiment.Histogram{}, fmt.Errorf("encode histogram %s: %w", kind, err)
	}
	return experiment.Histogram{Phase: experiment.PhaseMeasure, Kind: kind, Count: d.count(), Overflow: d.overflow, Blob: blob}, nil
}
