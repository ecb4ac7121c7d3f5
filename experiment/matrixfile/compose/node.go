package compose

import (
	"bytes"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// fields is a mapping in order.
type fields struct{ yaml.Node }

func mapping() *fields { return &fields{yaml.Node{Kind: yaml.MappingNode}} }

// inline writes the mapping on one line.
func (f *fields) inline() *fields {
	f.Style = yaml.FlowStyle
	return f
}

func (f *fields) empty() bool { return len(f.Content) == 0 }

func (f *fields) add(key string, value *yaml.Node) {
	f.Content = append(f.Content, text(key), value)
}

// text adds a text, if there is any.
func (f *fields) text(key, value string) {
	if value != "" {
		f.add(key, text(value))
	}
}

// texts adds a list of texts on one line, if there are any.
func (f *fields) texts(key string, values []string) {
	if len(values) > 0 {
		f.add(key, list(values))
	}
}

// sub adds a mapping, if it holds anything.
func (f *fields) sub(key string, value *fields) {
	if !value.empty() {
		f.add(key, &value.Node)
	}
}

func text(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: s}
	n.SetString(s)
	// A matrix takes numbers and truth values as text; without quotes they read better.
	switch _, err := strconv.Atoi(s); {
	case err == nil:
		n.Tag = "!!int"
	case s == "true":
		n.Tag = "!!bool"
	}
	return n
}

func list(values []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, v := range values {
		n.Content = append(n.Content, text(v))
	}
	return n
}

func (f *fields) encode() (string, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(&f.Node); err != nil {
		return "", err
	}
	return b.String(), enc.Close()
}
