package step

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// extract takes named values out of a JSON document, as text: strings and numbers
// verbatim, true, false and null by name. fault says why there are none.
func extract(wanted []experiment.Extract, body []byte) (values map[string]string, fault string) {
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
