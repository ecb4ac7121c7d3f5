package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/analysis/guard"
	"github.com/ceteris/ceteris/experiment/matrixfile"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// exitCodes gives the values of the constants exit... in main.go.
func exitCodes(t *testing.T) []int {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "main.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []int
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "exit") {
			return true
		}
		code, err := strconv.Atoi(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, code)
		return true
	})
	return codes
}

func TestReadmeListsEveryExitCode(t *testing.T) {
	_, table, found := strings.Cut(readme(t), "| exit code | means |\n|---|---|\n")
	if !found {
		t.Fatal("README.md has no table of exit codes")
	}
	var listed []int
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		code, err := strconv.Atoi(strings.TrimSpace(strings.Split(line, "|")[1]))
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		listed = append(listed, code)
	}
	if diff := cmp.Diff(listed, exitCodes(t)); diff != "" {
		t.Errorf("README.md (-) and main.go (+):\n%s", diff)
	}
}

func TestReadmeListsEveryCommandAndGuard(t *testing.T) {
	text := readme(t)
	root := newRootCommand(&app{out: &bytes.Buffer{}, err: &screen{w: &bytes.Buffer{}}}, strings.NewReader(""))
	_, table, _ := strings.Cut(text, "## Commands")
	for _, cmd := range root.Commands() {
		if !regexp.MustCompile("(`ceteris |, `)" + cmd.Name() + "\\b").MatchString(table) {
			t.Errorf("README.md does not list the command %s", cmd.Name())
		}
	}
	_, table, _ = strings.Cut(text, "## What is distrusted")
	for _, g := range guard.All() {
		if !strings.Contains(table, "`"+g.Code+"`") {
			t.Errorf("README.md does not list the guard %s", g.Code)
		}
	}
}

// A matrix may turn off every guard that there is, and no other; it may move the
// threshold of those that have one.
func TestMatricesKnowTheGuards(t *testing.T) {
	movable := map[string]bool{}
	for _, g := range guard.All() {
		movable[g.Code] = g.Unit != ""
	}
	if diff := cmp.Diff(matrixfile.GuardCodes(), movable); diff != "" {
		t.Errorf("judge.guards and the guards, by whether they have a threshold (-language +guards):\n%s", diff)
	}
}
