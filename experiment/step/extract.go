package step

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// Take takes the named values of a step out of an answer, verbatim. fault says why
// there are none.
func Take(s experiment.Step, body []byte) (values map[string]string, fault string) {
	switch {
	case s.Regex != "":
		return fromText(s.Regex, body)
	case len(s.JSON) > 0:
		return fromJSON(s.JSON, body)
	case len(s.CSV) > 0:
		return fromCSV(s.CSV, body)
	default:
		return nil, ""
	}
}

// fromText takes the named groups of a pattern; of several matches the last counts, and
// a group that took no part in it is absent.
func fromText(pattern string, body []byte) (values map[string]string, fault string) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err.Error()
	}
	var last []int
	for _, m := range re.FindAllSubmatchIndex(body, -1) {
		last = m
	}
	if last == nil {
		return nil, fmt.Sprintf("%q matches nothing in: %s", pattern, clip(string(body)))
	}
	values = map[string]string{}
	for i, name := range re.SubexpNames() {
		if name != "" && last[2*i] >= 0 {
			values[name] = string(body[last[2*i]:last[2*i+1]])
		}
	}
	return values, ""
}

// fromCSV takes columns of the last row, by their names in the first.
func fromCSV(wanted []experiment.Extract, body []byte) (values map[string]string, fault string) {
	r := csv.NewReader(bytes.NewReader(body))
	r.FieldsPerRecord = -1
	r.TrimLeadingSpace = true
	rows, err := r.ReadAll()
	if err != nil {
		return nil, "no CSV: " + err.Error()
	}
	if len(rows) < 2 {
		return nil, "no CSV with a header and a row: " + clip(string(body))
	}
	head, last := rows[0], rows[len(rows)-1]
	values = make(map[string]string, len(wanted))
	for _, w := range wanted {
		if i := slices.Index(head, w.Path); i >= 0 && i < len(last) {
			values[w.Name] = last[i]
		}
	}
	return values, ""
}

// fromJSON takes values by their paths, as text: strings and numbers verbatim, true,
// false and null by name.
func fromJSON(wanted []experiment.Extract, body []byte) (values map[string]string, fault string) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var doc any
	if err := d.Decode(&doc); err != nil {
		return nil, "no JSON: " + clip(string(body))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, "no JSON document: something follows it"
	}
	values = make(map[string]string, len(wanted))
	for _, w := range wanted {
		if v, err := walk(doc, w.Path); err == nil {
			values[w.Name] = v
		}
	}
	return values, ""
}

// walk follows a path of keys and indices: .server.threads, .pools.0.size.
func walk(doc any, path string) (string, error) {
	for key := range strings.SplitSeq(strings.TrimPrefix(path, "."), ".") {
		if key == "" {
			continue // the document itself
		}
		switch node := doc.(type) {
		case map[string]any:
			next, ok := node[key]
			if !ok {
				return "", fmt.Errorf("no %s", path)
			}
			doc = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(node) {
				return "", fmt.Errorf("no %s", path)
			}
			doc = node[i]
		default:
			return "", fmt.Errorf("no %s", path)
		}
	}
	return text(doc)
}

func text(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	case bool:
		return strconv.FormatBool(v), nil
	case nil:
		return "null", nil
	default:
		b, err := json.Marshal(v)
		return string(b), err
	}
}
