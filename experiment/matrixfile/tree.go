package matrixfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/ceteris/ceteris/experiment"
)

// Bounds of a matrix. Aliases count at every place of use, so that a small file
// cannot grow without end.
const (
	maxDepth  = 24
	maxValues = 20_000
)

type kind int

const (
	broken  kind = iota // faulty, and said so: whatever reads it stays silent
	null                // nothing, null or ~
	scalar              // text
	mapping             // fields
	list                // items
)

func (k kind) String() string {
	return [...]string{"something unreadable", "nothing", "text", "a mapping", "a list"}[k]
}

// value is a node of the file with the path on which it stands.
type value struct {
	kind   kind
	path   string
	at     experiment.Pos
	text   string // verbatim
	inLine bool   // a scalar on one line: offsets in the text are columns
	fields []field
	items  []*value
}

// has reports whether a mapping has the field, read or not.
func (v *value) has(name string) bool {
	return v.child(name) != nil
}

// child gives a field of a mapping, or nil.
func (v *value) child(name string) *value {
	for _, f := range v.fields {
		if f.name == name {
			return f.value
		}
	}
	return nil
}

// names lists the fields of a mapping.
func (v *value) names() []string {
	var out []string
	for _, f := range v.fields {
		out = append(out, f.name)
	}
	return out
}

type field struct {
	name  string
	at    experiment.Pos
	value *value
}

// parseTree gives the root node of the one document in src.
func parseTree(file string, src []byte) (*yaml.Node, *experiment.FieldError) {
	if fault := checkText(file, src); fault != nil {
		return nil, fault
	}
	at := experiment.Pos{File: file, Line: 1, Column: 1}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var doc, next yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF), err == nil && (len(doc.Content) == 0 || doc.Content[0].Tag == "!!null"):
		return nil, &experiment.FieldError{At: at, Err: errors.New("the matrix is empty"), Hint: "it wants name, subject, factors and load"}
	case err != nil:
		return nil, syntaxFault(file, string(src), err)
	}
	switch err := dec.Decode(&next); {
	case err == nil:
		at.Line, at.Column = next.Line, next.Column
		return nil, &experiment.FieldError{At: at, Err: errors.New("a second document"), Hint: "one matrix a file"}
	case !errors.Is(err, io.EOF):
		return nil, syntaxFault(file, string(src), err)
	}
	return doc.Content[0], nil
}

// checkText refuses what is no text before YAML sees it, with its position.
func checkText(file string, src []byte) *experiment.FieldError {
	at := experiment.Pos{File: file, Line: 1, Column: 1}
	if len(src) > MaxBytes {
		return &experiment.FieldError{At: at, Err: fmt.Errorf("larger than %d KiB", MaxBytes>>10)}
	}
	for i := 0; i < len(src); {
		c, size := utf8.DecodeRune(src[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			return &experiment.FieldError{At: at, Err: fmt.Errorf("byte 0x%02x is not UTF-8", src[i])}
		case c == '\n':
			at.Line, at.Column = at.Line+1, 0
		case c < ' ' && c != '\t' && c != '\r', c == 0x7f:
			return &experiment.FieldError{At: at, Err: fmt.Errorf("control character 0x%02x", c)}
		}
		at.Column++
		i += size
	}
	return nil
}

var (
	yamlLine   = regexp.MustCompile(`^yaml: line (\d+): (.*)$`)
	yamlAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
)

const quoteAdvice = `quote it, as in {cpus: "${cpus}"}`

// syntaxFault turns an error of the YAML parser into a fault with a position.
func syntaxFault(file, src string, err error) *experiment.FieldError {
	at := experiment.Pos{File: file, Line: 1, Column: 1}
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		at.Line, _ = strconv.Atoi(m[1])
		text = m[2]
	}
	if strings.HasPrefix(text, "did not find expected") {
		at.Line++ // the library counts the lines of these from 0, and leaves 0 out
		if !yamlLine.MatchString(err.Error()) {
			at.Line = 1
		}
	}
	lines := strings.Split(src, "\n")
	if m := yamlAnchor.FindStringSubmatch(text); m != nil {
		for i, line := range lines {
			if col := strings.Index(line, "*"+m[1]); col >= 0 {
				at.Line, at.Column = i+1, utf8.RuneCountInString(line[:col])+1
				return &experiment.FieldError{At: at, Err: fmt.Errorf("alias *%s has no anchor", m[1])}
			}
		}
	}
	if line, col := unquotedReference(src); line >= at.Line {
		at.Line, at.Column = line, col
		return &experiment.FieldError{At: at, Err: errors.New("this is not YAML: { opens a mapping here"), Hint: quoteAdvice}
	}
	at.Line = lastLine(lines, at.Line, err)
	at.Column = len(lines[at.Line-1]) - len(strings.TrimLeft(lines[at.Line-1], " \t")) + 1
	return &experiment.FieldError{At: at, Err: fmt.Errorf("this is not YAML: %s", text)}
}

// lastLine finds the line at which the parser gave up. The library tells where the
// surrounding block began; the fault shows as soon as its own line is read.
func lastLine(lines []string, from int, err error) int {
	from = min(from, len(lines))
	for n, budget := from, 8*MaxBytes; n <= len(lines) && budget > 0; n++ {
		part := strings.Join(lines[:n], "\n")
		budget -= len(part)
		var node yaml.Node
		if got := yaml.Unmarshal([]byte(part), &node); got != nil && got.Error() == err.Error() {
			return n
		}
	}
	return from
}

// unquotedReference finds the first ${ inside brackets and outside quotes and
// comments, where YAML reads a mapping. It serves a message only.
func unquotedReference(src string) (line, column int) {
	line, depth, quote, last := 1, 0, rune(0), ' '
	for i, c := range src {
		column++
		switch {
		case c == '\n':
			line, column = line+1, 0
		case quote != 0:
			if c == quote && (quote == '\'' || last != '\\') {
				quote = 0
			}
		case c == '#' && strings.ContainsRune(" \n", last):
			quote = '\n'
		case (c == '"' || c == '\'') && strings.ContainsRune(" ,[{:\n", last):
			quote = c
		case c == '$' && depth > 0 && strings.HasPrefix(src[i:], "${"):
			return line, column
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth = max(depth-1, 0)
		}
		if c == '\n' && quote == '\n' {
			quote = 0
		}
		last = c
	}
	return 0, 0
}
