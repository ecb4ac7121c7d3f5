package matrixfile

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ceteris/ceteris/experiment"
)

// reader collects the faults of one file.
type reader struct {
	file   string
	lines  []string
	values int
	dir    string                    // where relative paths start
	places map[string]experiment.Pos // of texts, and of the keys of everything else
	faults []*experiment.FieldError

	sets          map[string]map[string]*value // overlays, by factor and level
	variantPlaces []map[string]experiment.Pos  // places of each variant of the matrix
	feeds         map[string]*experiment.DataSpec
}

// place gives the position of a field, or of the nearest one above it, as declared (0)
// or in a variant of the matrix (from 1).
func (r *reader) place(path string, variant int) (at experiment.Pos, exact bool) {
	places := r.places
	if variant > 0 && within(path, "subject") || variant > 0 && within(path, "load") {
		places = r.variantPlaces[variant-1]
	}
	at, exact = places[path]
	for !exact && path != "" {
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
		if above, ok := places[path]; ok {
			return above, false
		}
	}
	return at, exact
}

func (r *reader) fault(at experiment.Pos, path string, err error, hint string) {
	r.faults = append(r.faults, &experiment.FieldError{At: at, Path: path, Err: err, Hint: hint})
}

// faultAt is fault for a value and a message.
func (r *reader) faultAt(v *value, hint, format string, args ...any) {
	r.fault(v.at, v.path, fmt.Errorf(format, args...), hint)
}

// convert checks the form of a node and everything below: bounds, aliases, tags,
// keys. Aliases are followed; what they bring keeps the position of its anchor.
func (r *reader) convert(n *yaml.Node, path string, depth int) *value {
	v := &value{path: path, at: experiment.Pos{File: r.file, Line: n.Line, Column: n.Column}}
	r.values++
	switch {
	case depth > maxDepth:
		r.faultAt(v, "", "nested deeper than %d levels", maxDepth)
		return v
	case r.values > maxValues:
		if r.values == maxValues+1 {
			r.faultAt(v, "", "more than %d values", maxValues)
		}
		return v
	case n.Style&yaml.TaggedStyle != 0:
		r.faultAt(v, "text is taken as it stands", "tag %s: tags are no part of the matrix language", n.Tag)
		return v
	}
	switch n.Kind {
	case yaml.AliasNode:
		return r.convert(n.Alias, path, depth+1)
	case yaml.ScalarNode:
		v.kind, v.text = scalar, n.Value
		v.inLine = n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0
		if n.Tag == "!!null" {
			v.kind = null
		}
	case yaml.SequenceNode:
		v.kind = list
		for i, item := range n.Content {
			v.items = append(v.items, r.convert(item, fmt.Sprintf("%s[%d]", path, i), depth+1))
		}
	case yaml.MappingNode:
		v.kind = mapping
		r.convertFields(v, n, depth)
	case yaml.DocumentNode:
		r.faultAt(v, "", "a document inside a document")
	}
	return v
}

func (r *reader) convertFields(v *value, n *yaml.Node, depth int) {
	first := map[string]experiment.Pos{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		at := experiment.Pos{File: r.file, Line: key.Line, Column: key.Column}
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		switch {
		case key.Tag == "!!merge":
			r.fault(at, join(v.path, "<<"), errors.New("merge keys are no part of the matrix language"), "write the fields out")
			continue
		case key.Kind != yaml.ScalarNode || key.Tag == "!!null" || key.Style&yaml.TaggedStyle != 0:
			r.fault(at, v.path, errors.New("a key must be text"), "")
			continue
		}
		path := join(v.path, key.Value)
		if before, twice := first[key.Value]; twice {
			r.fault(at, path, errors.New("given twice"), fmt.Sprintf("first in line %d", before.Line))
			continue
		}
		first[key.Value] = at
		child := r.convert(n.Content[i+1], path, depth+1)
		v.fields = append(v.fields, field{name: key.Value, at: at, value: child})
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
