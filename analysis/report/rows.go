package report

import (
	"bytes"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"
)

// Rows writes any table, such as the answer to a query: one row for each turn of
// rows, values in the order of cols. Values are nil, bool, int64, float64,
// string, []byte or time.Time; others are printed by fmt. csv and json are
// written as rows arrive. An error of rows ends the table and is returned.
//
// A missing value is NULL in text and md, empty in csv and null in json; bytes
// are hexadecimal; json gives an array of objects, in which a column of a name
// that was there already gets its number added: n, n_2.
func Rows(w io.Writer, cols []string, rows iter.Seq2[[]any, error], f Format) error {
	switch f {
	case Text, Markdown:
		return rowsGrid(w, cols, rows, f)
	case CSV:
		return rowsCSV(w, cols, rows)
	case JSON:
		return rowsJSON(w, cols, rows)
	default:
		return unknownFormat(f)
	}
}

func rowsGrid(w io.Writer, cols []string, rows iter.Seq2[[]any, error], f Format) error {
	g := &grid{columns: make([]column, len(cols))}
	for i, c := range cols {
		g.columns[i].title = Plain(c)
	}
	numbers, texts := make([]bool, len(cols)), make([]bool, len(cols))
	for row, err := range rows {
		if err != nil {
			return err
		}
		line := make([]string, len(cols))
		for i := range cols {
			v := at(row, i)
			line[i] = Plain(valueText(v, "NULL"))
			switch v.(type) {
			case nil:
			case int64, float64, int:
				numbers[i] = true
			default:
				texts[i] = true
			}
		}
		g.rows = append(g.rows, line)
	}
	for i := range g.columns {
		g.columns[i].right = numbers[i] && !texts[i]
	}
	if f == Markdown {
		return write(w, g.markdown())
	}
	return write(w, g.text())
}

func rowsCSV(w io.Writer, cols []string, rows iter.Seq2[[]any, error]) error {
	out := csv.NewWriter(w)
	if err := out.Write(cols); err != nil {
		return err
	}
	for row, err := range rows {
		if err != nil {
			out.Flush()
			return err
		}
		line := make([]string, len(cols))
		for i := range cols {
			line[i] = valueText(at(row, i), "")
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func rowsJSON(w io.Writer, cols []string, rows iter.Seq2[[]any, error]) error {
	keys, err := jsonKeys(cols)
	if err != nil {
		return err
	}
	lead := "["
	for row, err := range rows {
		if err != nil {
			return err
		}
		var b bytes.Buffer
		b.WriteString(lead + "\n  {")
		for i, key := range keys {
			v, err := marshal(valueJSON(at(row, i)))
			if err != nil {
				return fmt.Errorf("column %s: %w", cols[i], err)
			}
			if i > 0 {
				b.WriteString(", ")
			}
			b.Write(key)
			b.WriteString(": ")
			b.Write(v)
		}
		b.WriteByte('}')
		if _, err := b.WriteTo(w); err != nil {
			return err
		}
		lead = ","
	}
	if lead == "[" {
		return write(w, "[]\n")
	}
	return write(w, "\n]\n")
}

// jsonKeys makes the names of columns unlike.
func jsonKeys(cols []string) ([][]byte, error) {
	used := map[string]bool{}
	keys := make([][]byte, len(cols))
	for i, c := range cols {
		name := c
		for n := 2; used[name]; n++ {
			name = c + "_" + strconv.Itoa(n)
		}
		used[name] = true
		var err error
		if keys[i], err = marshal(name); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

func at(row []any, i int) any {
	if i < len(row) {
		return row[i]
	}
	return nil
}

func valueText(v any, null string) string {
	switch x := v.(type) {
	case nil:
		return null
	case float64:
		if !finite(x) {
			return null
		}
		return raw(&x)
	case []byte:
		return hex.EncodeToString(x)
	case time.Time:
		return stamp(x)
	default:
		return fmt.Sprint(x)
	}
}

func valueJSON(v any) any {
	switch x := v.(type) {
	case float64:
		return number64(x)
	case []byte:
		return hex.EncodeToString(x)
	case time.Time:
		return stamp(x)
	default:
		return v
	}
}
