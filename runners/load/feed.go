package load

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/ceteris/ceteris/experiment"
)

// Feed is a table of values, of which each request that asks for any takes the next
// row, in the order in which requests are sent, from the first again after the last.
type Feed struct {
	columns []string
	rows    [][]string
	next    atomic.Uint64
}

// ParseFeed reads CSV (RFC 4180, as encoding/csv reads it) with a header row of
// different names and rows of its length, at least one. Where want says what the
// file was when the load was planned, it is compared with that.
func ParseFeed(data []byte, want experiment.DataFeed) (*Feed, error) {
	if sum := sha256.Sum256(data); want.SHA256 != "" && hex.EncodeToString(sum[:]) != want.SHA256 {
		return nil, errors.New("data: it is not the file of the plan: its checksum differs")
	}
	in := csv.NewReader(bytes.NewReader(data))
	header, err := in.Read()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("data: it is empty")
	case err != nil:
		return nil, fmt.Errorf("data: %w", err)
	}
	for i, c := range header {
		if c == "" || slices.Contains(header[:i], c) {
			return nil, fmt.Errorf("data: column %d is named %q: names are wanted, and each once", i+1, c)
		}
	}
	if len(want.Columns) > 0 && !slices.Equal(header, want.Columns) {
		return nil, fmt.Errorf("data: its columns are %q, those of the plan %q", header, want.Columns)
	}
	f := &Feed{columns: header}
	for {
		row, err := in.Read()
		switch {
		case errors.Is(err, io.EOF):
			if len(f.rows) == 0 {
				return nil, errors.New("data: there is no row after the header")
			}
			return f, nil
		case errors.Is(err, csv.ErrFieldCount):
			line, _ := in.FieldPos(0)
			return nil, fmt.Errorf("data: line %d has %d fields, the header has %d", line, len(row), len(header))
		case err != nil:
			return nil, fmt.Errorf("data: %w", err)
		}
		f.rows = append(f.rows, row)
	}
}

// take gives the next row.
func (f *Feed) take() []string { return f.rows[(f.next.Add(1)-1)%uint64(len(f.rows))] }

// Check tells whether every value can stand where the requests put it: none may end
// the line in which it stands.
func (f *Feed) Check(requests []experiment.Request) error {
	for _, q := range requests {
		if err := f.checkText(q.Path, "path", experiment.ValidPath); err != nil {
			return err
		}
		for _, h := range q.Headers {
			if err := f.checkText(h.Value, "header "+h.Name, validInHeader); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *Feed) checkText(t experiment.Template, where string, valid func(string) bool) error {
	for _, ref := range t.Refs() {
		column := slices.Index(f.columns, ref.Name)
		if ref.Kind != experiment.RefData || column < 0 {
			continue
		}
		for i, row := range f.rows {
			if !valid(row[column]) {
				return fmt.Errorf("data: row %d: %q in column %s cannot stand in the %s", i+1, row[column], ref.Name, where)
			}
		}
	}
	return nil
}
