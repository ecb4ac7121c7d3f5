package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/matrixfile"
)

// fragments gives the blocks of YAML in the README's reference of the language. The
// first is a whole matrix, the others are valid in the place of its parts.
func fragments(t *testing.T) []string {
	t.Helper()
	_, text, found := strings.Cut(readme(t), "\n## The matrix\n")
	if !found {
		t.Fatal("README.md has no section on the matrix")
	}
	text, _, _ = strings.Cut(text, "\n## ")
	var out []string
	for _, m := range regexp.MustCompile("(?s)\n```yaml\n(.*?)\n```").FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// TestReadmeFragments: every fragment of the reference is a valid matrix when it is
// put into the first one, and so is the first one by itself.
func TestReadmeFragments(t *testing.T) {
	all := fragments(t)
	if len(all) < 8 {
		t.Fatalf("%d fragments", len(all))
	}
	dir, err := filepath.Abs("testdata/reference")
	if err != nil {
		t.Fatal(err)
	}
	for i, fragment := range all {
		first, _, _ := strings.Cut(fragment, "\n")
		t.Run(fmt.Sprintf("%d %s", i+1, first), func(t *testing.T) {
			src := put(t, all[0], fragment)
			m, err := matrixfile.Parse("matrix.yaml", dir, src)
			if err != nil {
				t.Fatalf("%v\n%s", err, src)
			}
			for _, runner := range []string{experiment.RunnerDocker, experiment.RunnerProcess} {
				if err := m.ForRunner(runner).ValidateRunner(); err != nil && runner == experiment.RunnerDocker {
					t.Errorf("runner %s: %v", runner, err)
				}
			}
			if _, err := m.Plan(m.Cells()[0]); err != nil {
				t.Error(err)
			}
		})
	}
}

// put puts the parts of a fragment in the place of those of a matrix; services one by
// one.
func put(t *testing.T, matrix, fragment string) []byte {
	t.Helper()
	base, over := tree(t, matrix), tree(t, fragment)
	if services := at(over, "subject", "services"); services != nil {
		for i := 0; i < len(services.Content); i += 2 {
			replace(at(base, "subject", "services"), services.Content[i], services.Content[i+1])
		}
		subject := at(over, "subject")
		for i := 0; i < len(subject.Content); i += 2 {
			if subject.Content[i].Value != "services" {
				replace(at(base, "subject"), subject.Content[i], subject.Content[i+1])
			}
		}
	}
	for i := 0; i < len(over.Content); i += 2 {
		if over.Content[i].Value != "subject" {
			replace(base, over.Content[i], over.Content[i+1])
		}
	}
	out, err := yaml.Marshal(base)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func tree(t *testing.T, src string) *yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(src), &doc); err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return doc.Content[0]
}

// at gives the value on a path of keys, or nil.
func at(n *yaml.Node, path ...string) *yaml.Node {
	for _, key := range path {
		i := 0
		for i < len(n.Content) && n.Content[i].Value != key {
			i += 2
		}
		if i >= len(n.Content) {
			return nil
		}
		n = n.Content[i+1]
	}
	return n
}

func replace(n, key, value *yaml.Node) {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key.Value {
			n.Content[i+1] = value
			return
		}
	}
	n.Content = append(n.Content, key, value)
}

// TestReadmeHasEveryKey: each key of the language stands in a fragment.
func TestReadmeHasEveryKey(t *testing.T) {
	shown := map[string]bool{}
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n.Kind == yaml.MappingNode {
			for i := 0; i < len(n.Content); i += 2 {
				shown[n.Content[i].Value] = true
			}
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	for _, fragment := range fragments(t) {
		walk(tree(t, fragment))
	}
	schema, err := matrixfile.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(schema, &doc); err != nil {
		t.Fatal(err)
	}
	keys := properties(doc)
	if len(keys) < 80 {
		t.Fatalf("the schema has %d keys", len(keys))
	}
	for _, key := range keys {
		if !shown[key] {
			t.Errorf("no fragment of README.md shows %s", key)
		}
	}
}

// properties lists the names of the properties in a schema, each once. Codes of guards
// and names of quantiles are listed elsewhere.
func properties(schema any) []string {
	var names []string
	switch node := schema.(type) {
	case map[string]any:
		if p, ok := node["properties"].(map[string]any); ok {
			for name := range p {
				names = append(names, name)
			}
		}
		for key, child := range node {
			if key != "guards" && key != "slo" {
				names = append(names, properties(child)...)
			}
		}
	case []any:
		for _, child := range node {
			names = append(names, properties(child)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
