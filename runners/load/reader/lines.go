package reader

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
)

// eachLine gives a format of one request a line, line by line, without their ends. cut
// says where it ends inside one, which is not given. An error is told with its line.
func eachLine(data []byte, each func(line []byte) error) (cut, err error) {
	for n := 1; len(data) > 0; n++ {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			return incomplete("line %d is cut off", n), nil
		}
		data = rest
		if err := each(bytes.TrimSuffix(line, []byte("\r"))); err != nil {
			return nil, fmt.Errorf("line %d, %s: %w", n, quote(line), err)
		}
	}
	return nil, nil
}

// eachRecord gives CSV record by record; one is valid until the next. cut says where it
// ends inside one, which is not given. An error is told with the line.
func eachRecord(data []byte, in *csv.Reader, each func(fields []string) error) (cut, err error) {
	in.ReuseRecord = true
	whole := bytes.HasSuffix(data, []byte("\n"))
	for {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		atEnd := in.InputOffset() >= int64(len(data))
		var bad *csv.ParseError
		switch {
		case errors.As(err, &bad) && atEnd:
			return incomplete("it is cut off inside line %d", bad.StartLine), nil
		case err != nil:
			return nil, err
		}
		line, _ := in.FieldPos(0)
		if atEnd && !whole {
			return incomplete("it is cut off inside line %d", line), nil
		}
		if err := each(fields); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
}
