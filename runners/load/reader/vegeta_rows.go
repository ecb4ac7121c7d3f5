package reader

import (
	"bytes"
	"encoding/csv"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// vegetaGob reads the results of an attack. The decoder takes memory as the input
// shows it is there: what holds lists and maps (bodies, heads) is skipped.
func vegetaGob(data []byte, span experiment.Span) (*result, error) {
	r := newVegetaRows("gob", span)
	in := bytes.NewReader(data)
	decoder := gob.NewDecoder(in)
	for n := 1; ; n++ {
		var v vegetaResult
		at := in.Size() - int64(in.Len())
		err := decoder.Decode(&v)
		switch {
		case errors.Is(err, io.EOF) && at == in.Size(): // the decoder says so of a bad result as well
			return r.finish(nil)
		case errors.Is(err, io.ErrUnexpectedEOF) && in.Len() == 0:
			return r.finish(incomplete("result %d, at byte %d, is cut off", n, at))
		case err != nil:
			return nil, fmt.Errorf("result %d, at byte %d, is none of vegeta: %s", n, at, quoteError(err))
		}
		if err := r.add(&v); err != nil {
			return nil, fmt.Errorf("result %d, at byte %d: %w", n, at, err)
		}
	}
}

// quoteError is the text of an error that may hold much of the input.
func quoteError(err error) string { return quote([]byte(err.Error())) }

// vegetaJSON reads results as encode writes them in JSON, one a line.
func vegetaJSON(data []byte, span experiment.Span) (*result, error) {
	r := newVegetaRows("json", span)
	cut, err := eachLine(data, func(line []byte) error {
		var v vegetaResult
		if err := json.Unmarshal(line, &v); err != nil {
			return errors.New("it is no result of vegeta")
		}
		return r.add(&v)
	})
	if err != nil {
		return nil, err
	}
	return r.finish(cut)
}

// Columns of vegeta's CSV, which has no header. Versions before 12.8 end with the
// sequence number.
const (
	vegetaTimestamp = iota
	vegetaCode
	vegetaLatency
	vegetaBytesOut
	vegetaBytesIn
	vegetaError
	_ // body
	vegetaAttack
	vegetaSeq
	vegetaColumns // at least
)

// vegetaCSVLine reports whether a line begins as one of the CSV does.
func vegetaCSVLine(line []byte) bool {
	fields := bytes.SplitN(line, []byte(","), vegetaError+1)
	if len(fields) <= vegetaError {
		return false
	}
	for _, one := range fields[:vegetaError] {
		if _, err := strconv.ParseUint(string(one), 10, 64); err != nil {
			return false
		}
	}
	return true
}

// vegetaCSV reads results as encode writes them in CSV.
func vegetaCSV(data []byte, span experiment.Span) (*result, error) {
	r := newVegetaRows("csv", span)
	in := csv.NewReader(bytes.NewReader(data))
	in.FieldsPerRecord = -1
	cut, err := eachRecord(data, in, func(record []string) error {
		v, err := vegetaRecord(record)
		if err != nil {
			return err
		}
		return r.add(v)
	})
	if err != nil {
		return nil, err
	}
	return r.finish(cut)
}

func vegetaRecord(record []string) (*vegetaResult, error) {
	if len(record) < vegetaColumns {
		return nil, fmt.Errorf("it has %d columns, and the CSV of vegeta at least %d", len(record), vegetaColumns)
	}
	var numbers [vegetaColumns]int64
	for _, column := range []int{vegetaTimestamp, vegetaCode, vegetaLatency, vegetaBytesOut, vegetaBytesIn, vegetaSeq} {
		n, err := strconv.ParseInt(record[column], 10, 64)
		if err != nil || n < 0 || column == vegetaCode && n > 999 {
			return nil, fmt.Errorf("column %d holds %s", column+1, quote([]byte(record[column])))
		}
		numbers[column] = n
	}
	return &vegetaResult{
		Attack: record[vegetaAttack], Seq: uint64(numbers[vegetaSeq]), Code: uint16(numbers[vegetaCode]),
		Timestamp: time.Unix(0, numbers[vegetaTimestamp]), Latency: time.Duration(numbers[vegetaLatency]),
		BytesOut: uint64(numbers[vegetaBytesOut]), BytesIn: uint64(numbers[vegetaBytesIn]), Error: record[vegetaError],
	}, nil
}
