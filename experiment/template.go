package experiment

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// RefKind says who resolves a reference and when.
type RefKind string

// The forms of the matrix language. Factors are resolved at plan time, addresses
// and the caller's variables by the conductor, own ports and paths of files by the
// runner, random values and data by the generator, one for each request.
const (
	RefFactor RefKind = "factor" // ${name}, or ${name.key} of a level with keys
	RefSelf   RefKind = "self"   // ${self:PORT}
	RefAddr   RefKind = "addr"   // ${addr:SERVICE:PORT}
	RefFile   RefKind = "file"   // ${file:PATH} of files or volumes of the service
	RefEnv    RefKind = "env"    // ${env:NAME}, a secret
	RefRandom RefKind = "random" // ${random:A..B}, both ends included
	RefData   RefKind = "data"   // ${data:COLUMN}
)

// Ref is one ${...} of a template.
type Ref struct {
	Kind   RefKind
	Name   string // factor, service, path, variable or column
	Key    string // of a factor's level; empty: its text
	Port   int    // self and addr
	Lo, Hi int64  // random
}

func (r Ref) String() string {
	switch r.Kind {
	case RefSelf:
		return fmt.Sprintf("${self:%d}", r.Port)
	case RefAddr:
		return fmt.Sprintf("${addr:%s:%d}", r.Name, r.Port)
	case RefRandom:
		return fmt.Sprintf("${random:%d..%d}", r.Lo, r.Hi)
	case RefFile, RefEnv, RefData:
		return "${" + string(r.Kind) + ":" + r.Name + "}"
	default:
		if r.Key != "" {
			return "${" + r.Name + "." + r.Key + "}"
		}
		return "${" + r.Name + "}"
	}
}

// Template is text with references. The zero value is the empty text. Values
// that are put in for references are never scanned again.
type Template struct {
	parts []templatePart
	At    Pos // where the text stands in the matrix file; not part of its identity
}

type templatePart struct {
	text string
	ref  *Ref
}

// TemplateError says at which byte of the text a reference is wrong.
type TemplateError struct {
	Offset int
	Err    error
	Hint   string
}

func (e *TemplateError) Error() string { return e.Err.Error() }
func (e *TemplateError) Unwrap() error { return e.Err }

// Literal makes a template of plain text in which nothing is a reference.
func Literal(s string) Template {
	if s == "" {
		return Template{}
	}
	return Template{parts: []templatePart{{text: s}}}
}

// dollar is how String writes a literal "$" in front of a reference, where a
// plain one would read as the escape "$${".
const dollar = "${$}"

// ParseTemplate reads the forms of the matrix language. "$${" is a literal
// "${"; a "$" without "{" is literal. The error is a *TemplateError; for forms
// that the language names but this version lacks it wraps ErrNotYet.
func ParseTemplate(src string, at Pos) (Template, error) {
	t := Template{At: at}
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			t.parts = append(t.parts, templatePart{text: lit.String()})
			lit.Reset()
		}
	}
	for i := 0; i < len(src); {
		switch {
		case strings.HasPrefix(src[i:], "$${"):
			lit.WriteString("${")
			i += 3
		case strings.HasPrefix(src[i:], dollar):
			lit.WriteByte('$')
			i += len(dollar)
		case strings.HasPrefix(src[i:], "${"):
			end := strings.IndexByte(src[i:], '}')
			if end < 0 {
				return t, &TemplateError{Offset: i, Err: fmt.Errorf("%q is not closed", src[i:]), Hint: "add }, or write $${ for a literal ${"}
			}
			ref, err := parseRef(src[i+2 : i+end])
			if err != nil {
				err.Offset += i
				return t, err
			}
			flush()
			t.parts = append(t.parts, templatePart{ref: &ref})
			i += end + 1
		default:
			lit.WriteByte(src[i])
			i++
		}
	}
	flush()
	return t, nil
}

var (
	namePattern   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	keyedPattern  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*\.[A-Za-z0-9_.-]+$`)
	envPattern    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	randomPattern = regexp.MustCompile(`^(-?[0-9]+)\.\.(-?[0-9]+)$`)
)

// ValidName reports whether s may name a service, a factor or a level key.
func ValidName(s string) bool { return namePattern.MatchString(s) }

func parseRef(body string) (Ref, *TemplateError) {
	bad := func(hint, format string, a ...any) (Ref, *TemplateError) {
		return Ref{}, &TemplateError{Err: fmt.Errorf(format, a...), Hint: hint}
	}
	kind, arg, hasArg := strings.Cut(body, ":")
	if !hasArg {
		if name, key, keyed := strings.Cut(body, "."); keyed && keyedPattern.MatchString(body) {
			return Ref{Kind: RefFactor, Name: name, Key: key}, nil
		}
		if strings.ContainsAny(body, "+*/%() ") {
			return bad("settings that move together are levels of one factor", "${%s}: arithmetic is refused: a level is text, recorded as it is used", body)
		}
		if !ValidName(body) {
			return bad("write $${ for a literal ${", "${%s} is no reference", body)
		}
		return Ref{Kind: RefFactor, Name: body}, nil
	}
	switch kind {
	case "self":
		port, err := ParsePort(arg)
		if err != nil {
			return bad("as in ${self:8080}", "${%s}: %w", body, err)
		}
		return Ref{Kind: RefSelf, Port: port}, nil
	case "addr":
		service, p, ok := strings.Cut(arg, ":")
		port, err := ParsePort(p)
		if !ok || err != nil || !ValidName(service) {
			return bad("as in ${addr:redis:6379}", "${%s}: wants a service and a port", body)
		}
		return Ref{Kind: RefAddr, Name: service, Port: port}, nil
	case "random":
		m := randomPattern.FindStringSubmatch(arg)
		if m == nil {
			return bad("as in ${random:1..100000}", "${%s}: wants two whole numbers", body)
		}
		lo, err1 := strconv.ParseInt(m[1], 10, 64)
		hi, err2 := strconv.ParseInt(m[2], 10, 64)
		if err1 != nil || err2 != nil || lo > hi || hi-lo < 0 || hi-lo == 1<<63-1 {
			return bad("the first number must not exceed the second", "${%s}: no such range", body)
		}
		return Ref{Kind: RefRandom, Lo: lo, Hi: hi}, nil
	case "file":
		if !path.IsAbs(arg) || path.Clean(arg) != arg {
			return bad("as in ${file:/etc/app.conf}", "${%s}: wants an absolute path", body)
		}
		return Ref{Kind: RefFile, Name: arg}, nil
	case "env":
		if !envPattern.MatchString(arg) {
			return bad("as in ${env:API_TOKEN}", "${%s}: wants the name of a variable", body)
		}
		return Ref{Kind: RefEnv, Name: arg}, nil
	case "data":
		if arg == "" {
			return bad("as in ${data:user}", "${%s}: wants a column of load.data", body)
		}
		return Ref{Kind: RefData, Name: arg}, nil
	default:
		return bad("known: self, addr, file, env, random, data; write $${ for a literal ${", "${%s}: unknown form", body)
	}
}

// Resolve replaces the references for which f answers true by literal text and
// leaves the others.
func (t Template) Resolve(f func(Ref) (string, bool)) Template {
	out := Template{At: t.At}
	for _, p := range t.parts {
		if p.ref != nil {
			if s, ok := f(*p.ref); ok {
				p = templatePart{text: s}
			}
		}
		last := len(out.parts) - 1
		switch {
		case p.ref != nil:
			out.parts = append(out.parts, p)
		case p.text == "":
		case last >= 0 && out.parts[last].ref == nil:
			out.parts[last].text += p.text
		default:
			out.parts = append(out.parts, p)
		}
	}
	return out
}

// Refs lists the references that are left, in order.
func (t Template) Refs() []Ref {
	var refs []Ref
	for _, p := range t.parts {
		if p.ref != nil {
			refs = append(refs, *p.ref)
		}
	}
	return refs
}

// Literal gives the text and true when no reference is left.
func (t Template) Literal() (string, bool) {
	var b strings.Builder
	for _, p := range t.parts {
		if p.ref != nil {
			return "", false
		}
		b.WriteString(p.text)
	}
	return b.String(), true
}

// IsZero reports whether the text is empty (also for JSON's omitzero).
func (t Template) IsZero() bool { s, ok := t.Literal(); return ok && s == "" }

// String gives the source form: ParseTemplate(t.String()) equals t.
func (t Template) String() string {
	var b strings.Builder
	for i, p := range t.parts {
		if p.ref != nil {
			b.WriteString(p.ref.String())
			continue
		}
		text, dollars := p.text, 0
		if i+1 < len(t.parts) { // a reference follows: parts of text are never neighbours
			text = strings.TrimRight(p.text, "$")
			dollars = len(p.text) - len(text)
		}
		b.WriteString(strings.ReplaceAll(text, "${", "$${"))
		b.WriteString(strings.Repeat(dollar, dollars))
	}
	return b.String()
}

// MarshalText writes the source form.
func (t Template) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads the source form.
func (t *Template) UnmarshalText(b []byte) error {
	got, err := ParseTemplate(string(b), Pos{})
	if err != nil {
		return err
	}
	*t = got
	return nil
}

// SelfRef is the template ${self:PORT}.
func SelfRef(port int) Template {
	return Template{parts: []templatePart{{ref: &Ref{Kind: RefSelf, Port: port}}}}
}
