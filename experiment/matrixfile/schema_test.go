package matrixfile_test

import (
	"bytes"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/ceteris/ceteris/experiment/matrixfile"
	"github.com/ceteris/ceteris/matrices"
)

// schemaPath is where editors find the schema: beside the shipped matrices.
const schemaPath = "../../matrices/schema.json"

// TestSchemaFile pins the shipped schema; go generate writes it anew.
func TestSchemaFile(t *testing.T) {
	got, err := matrixfile.Schema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(schemaPath, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(got), string(readFile(t, schemaPath))); diff != "" {
		t.Errorf("schema.json is not up to date, run go generate (-got +want):\n%s", diff)
	}
}

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	src, err := matrixfile.Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(src))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// instance reads a matrix as an editor does.
func instance(t *testing.T, src string) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(src), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestSchemaAccepts: what the reader accepts, editors do not mark.
func TestSchemaAccepts(t *testing.T) {
	s := compiledSchema(t)
	for _, file := range []string{"base", "whole", "external", "language"} {
		if err := s.Validate(instance(t, string(readFile(t, "testdata/"+file+".yaml")))); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	files, err := fs.Glob(matrices.FS, "*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("shipped: %v, %v", files, err)
	}
	for _, file := range files {
		src, err := matrices.FS.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(instance(t, string(src))); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if first, _, _ := strings.Cut(string(src), "\n"); first != "# yaml-language-server: $schema=schema.json" {
			t.Errorf("%s begins with %q, and does not name its schema", file, first)
		}
	}
}

// TestSchemaRefuses: editors mark every field that the reader does not know or
// refuses, and every field that is missing or of another kind.
func TestSchemaRefuses(t *testing.T) {
	s := compiledSchema(t)
	_, cases := readFaults(t)
	refused := 0
	for _, c := range cases {
		var marked bool
		for _, sign := range []string{": unknown field", ": refused: ", " wants a mapping, has ", " wants a list, has ", " is none of "} {
			marked = marked || strings.Contains(c.want, sign)
		}
		if !marked || strings.Contains(c.want, "not YAML") {
			continue
		}
		// Overlays are checked as what they make, which no schema can say.
		if strings.HasPrefix(c.name, "overlay") || strings.Contains(c.name, "contains itself") {
			continue
		}
		refused++
		t.Run(c.name, func(t *testing.T) {
			if err := s.Validate(instance(t, c.src)); err == nil {
				t.Errorf("accepted, and the reader says:\n%s", c.want)
			}
		})
	}
	if refused < 30 {
		t.Errorf("%d cases only", refused)
	}
}
