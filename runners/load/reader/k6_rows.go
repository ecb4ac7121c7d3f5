package reader

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// k6JSON reads --out json: a metric or a sample a line.
func k6JSON(data []byte, span experiment.Span) (*result, error) {
	r := newK6Rows("json", span)
	for n := 1; len(data) > 0; n++ {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		data = rest
		if !whole {
			return r.finish(incomplete("line %d is cut off", n))
		}
		var v struct {
			Type   string `json:"type"`
			Metric string `json:"metric"`
			Data   struct {
				Time  time.Time `json:"time"`
				Value float64   `json:"value"`
				Tags  k6Tags    `json:"tags"`
			} `json:"data"`
		}
		if err := json.Unmarshal(line, &v); err != nil {
			return nil, fmt.Errorf("line %d is no sample of k6: %s", n, quote(line))
		}
		if v.Type != "Point" {
			continue
		}
		if err := r.add(k6Sample{metric: v.Metric, at: v.Data.Time, value: v.Data.Value, tags: v.Data.Tags}); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return r.finish(nil)
}

// k6CSV reads --out csv.
func k6CSV(data []byte, span experiment.Span) (*result, error) {
	r := newK6Rows("csv", span)
	whole := bytes.HasSuffix(data, []byte("\n"))
	in := csv.NewReader(bytes.NewReader(data))
	in.ReuseRecord = true
	var columns k6Columns
	for {
		record, err := in.Read()
		switch {
		case errors.Is(err, io.EOF):
			return r.finish(nil)
		case in.InputOffset() >= int64(len(data)) && (!whole || err != nil):
			return r.finish(incomplete("its last line is cut off"))
		case err != nil:
			return nil, err
		case columns == nil:
			columns = newK6Columns(record)
			continue
		}
		sample, err := columns.sample(record)
		if err == nil {
			err = r.add(sample)
		}
		if err != nil {
			line, _ := in.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// k6Columns are the places of columns; k6 leaves out tags that are switched off.
type k6Columns map[string]int

func newK6Columns(header []string) k6Columns {
	out := k6Columns{}
	for _, name := range []string{"status", "error", "error_code", "expected_response", "group", "name", "url"} {
		if at := slices.Index(header, name); at >= 0 {
			out[name] = at
		}
	}
	return out
}

func (c k6Columns) of(record []string, name string) string {
	if at, ok := c[name]; ok {
		return record[at]
	}
	return ""
}

// sample reads a line; its first three columns are always there.
func (c k6Columns) sample(record []string) (k6Sample, error) {
	at, vague, err := k6Time(record[1])
	if err != nil {
		return k6Sample{}, err
	}
	value, err := strconv.ParseFloat(record[2], 64)
	if err != nil {
		return k6Sample{}, fmt.Errorf("its value is %s", quote([]byte(record[2])))
	}
	return k6Sample{
		metric: record[0], at: at, vague: vague, value: value,
		tags: k6Tags{
			Status: c.of(record, "status"), Error: c.of(record, "error"), Code: c.of(record, "error_code"),
			Expected: c.of(record, "expected_response"), Group: c.of(record, "group"), Name: c.of(record, "name"), URL: c.of(record, "url"),
		},
	}, nil
}

// k6Time reads a time in whichever of the forms of K6_CSV_TIME_FORMAT: Unix seconds (as
// is the default), milliseconds, microseconds, nanoseconds, or RFC 3339, which k6 writes
// in whole seconds. Their sizes tell the first four apart from 1973 to 5138.
func k6Time(text string) (at time.Time, vague bool, err error) {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		if at, err = time.Parse(time.RFC3339, text); err != nil {
			return at, false, fmt.Errorf("its time is %s", quote([]byte(text)))
		}
		return at, at.Nanosecond() == 0, nil
	case n < 0:
		return at, false, fmt.Errorf("its time is %s", quote([]byte(text)))
	case n < 1e11:
		return time.Unix(n, 0), true, nil
	case n < 1e14:
		return time.UnixMilli(n), false, nil
	case n < 1e17:
		return time.UnixMicro(n), false, nil
	}
	return time.Unix(0, n), false, nil
}
