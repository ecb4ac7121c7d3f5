package reader

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// k6JSON reads --out json: a metric or a sample a line.
func k6JSON(data []byte, span experiment.Span) (*result, error) {
	r := newK6Rows("json", span)
	cut, err := eachLine(data, func(line []byte) error {
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
			return errors.New("it is no sample of k6")
		}
		if v.Type != "Point" {
			return nil
		}
		return r.add(k6Sample{metric: v.Metric, at: v.Data.Time, value: v.Data.Value, tags: v.Data.Tags})
	})
	if err != nil {
		return nil, err
	}
	return r.finish(cut)
}

// k6CSV reads --out csv.
func k6CSV(data []byte, span experiment.Span) (*result, error) {
	r := newK6Rows("csv", span)
	var columns k6Columns
	cut, err := eachRecord(data, csv.NewReader(bytes.NewReader(data)), func(record []string) error {
		if columns == nil {
			columns = newK6Columns(record)
			return nil
		}
		sample, err := columns.sample(record)
		if err != nil {
			return err
		}
		return r.add(sample)
	})
	if err != nil {
		return nil, err
	}
	return r.finish(cut)
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
