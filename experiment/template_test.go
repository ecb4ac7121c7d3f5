package experiment

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var templates = cmp.AllowUnexported(Template{}, templatePart{})

func TestParseTemplate(t *testing.T) {
	for _, c := range []struct {
		name, src string
		refs      []Ref
		literal   string // if there is no reference
	}{
		{name: "empty", src: ""},
		{name: "plain", src: "a b", literal: "a b"},
		{name: "dollar alone", src: "$5 and $", literal: "$5 and $"},
		{name: "escaped", src: "$${x}", literal: "${x}"},
		{name: "dollar before an escape", src: "$$${x}", literal: "$${x}"},
		{name: "factor", src: "x${threads}y", refs: []Ref{{Kind: RefFactor, Name: "threads"}}},
		{name: "self", src: "${self:8080}", refs: []Ref{{Kind: RefSelf, Port: 8080}}},
		{name: "addr", src: "${addr:redis:6379}", refs: []Ref{{Kind: RefAddr, Name: "redis", Port: 6379}}},
		{name: "random", src: "${random:-1..9}", refs: []Ref{{Kind: RefRandom, Lo: -1, Hi: 9}}},
		{name: "two", src: "${a}${b}", refs: []Ref{{Kind: RefFactor, Name: "a"}, {Kind: RefFactor, Name: "b"}}},
		{name: "dollar before a reference", src: "${$}${a}", refs: []Ref{{Kind: RefFactor, Name: "a"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseTemplate(c.src, Pos{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got.Refs(), c.refs); diff != "" {
				t.Errorf("references (-got +want):\n%s", diff)
			}
			if text, ok := got.Literal(); ok != (c.refs == nil) || text != c.literal {
				t.Errorf("literal %q, %v; want %q", text, ok, c.literal)
			}
			if got.String() != c.src {
				t.Errorf("String gives %q, want %q", got, c.src)
			}
		})
	}
}

func TestParseTemplateFaults(t *testing.T) {
	for _, c := range []struct {
		name, src, want string
		offset          int
	}{
		{name: "not closed", src: "ab ${x", want: `"${x" is not closed`, offset: 3},
		{name: "empty", src: "${}", want: "${} is no reference"},
		{name: "arithmetic", src: "${a*2}", want: "${a*2}: arithmetic is refused: a level is text, recorded as it is used"},
		{name: "no name", src: "${1a}", want: "${1a} is no reference"},
		{name: "key without factor", src: "é${.b}", want: "${.b} is no reference", offset: 2},
		{name: "self without port", src: "${self:}", want: `${self:}: "" is no port (1 to 65535)`},
		{name: "self port 0", src: "${self:0}", want: `${self:0}: "0" is no port (1 to 65535)`},
		{name: "addr without port", src: "${addr:redis}", want: "${addr:redis}: wants a service and a port"},
		{name: "addr without service", src: "${addr::80}", want: "${addr::80}: wants a service and a port"},
		{name: "random of words", src: "${random:a..b}", want: "${random:a..b}: wants two whole numbers"},
		{name: "random backwards", src: "${random:2..1}", want: "${random:2..1}: no such range"},
		{name: "random too wide", src: "${random:-9223372036854775808..9223372036854775807}", want: "${random:-9223372036854775808..9223372036854775807}: no such range"},
		{name: "file of a relative path", src: "${file:etc/x}", want: "${file:etc/x}: wants an absolute path"},
		{name: "file of a path with dots", src: "${file:/etc/../x}", want: "${file:/etc/../x}: wants an absolute path"},
		{name: "env without name", src: "${env:}", want: "${env:}: wants the name of a variable"},
		{name: "env of no name", src: "${env:A-B}", want: "${env:A-B}: wants the name of a variable"},
		{name: "data without column", src: "${data:}", want: "${data:}: wants a column of load.data"},
		{name: "unknown", src: "${vault:X}", want: "${vault:X}: unknown form"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseTemplate(c.src, Pos{})
			var bad *TemplateError
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want a *TemplateError", err)
			}
			if bad.Error() != c.want || bad.Offset != c.offset {
				t.Errorf("got %q at %d, want %q at %d", bad, bad.Offset, c.want, c.offset)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	tmpl, err := ParseTemplate("${a}-${self:80}-${b}", Pos{Line: 3})
	if err != nil {
		t.Fatal(err)
	}
	got := tmpl.Resolve(func(r Ref) (string, bool) { return "${b}", r.Name == "a" })
	if got.String() != "$${b}-${self:80}-${b}" || got.At != tmpl.At {
		t.Errorf("got %q at %v: what is put in is never scanned again", got, got.At)
	}
	if tmpl.String() != "${a}-${self:80}-${b}" {
		t.Errorf("the template changed to %q", tmpl)
	}
}

// TestTemplateRoundTrip resolves random templates by random values, full of dollars
// and braces: their text form must be read back as the same template, for the load
// reaches the generator as text.
func TestTemplateRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"$", "{", "}", "a", "${", "$$", "$${", "${a}", "${self:80}", "${random:1..9}", "${$}"}
	pick := func() string {
		var b strings.Builder
		for range rng.IntN(6) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		return b.String()
	}
	parsed := 0
	for range 20_000 {
		src := pick()
		tmpl, err := ParseTemplate(src, Pos{})
		if err != nil {
			continue
		}
		parsed++
		value := pick()
		checkRoundTrip(t, tmpl)
		checkRoundTrip(t, tmpl.Resolve(func(r Ref) (string, bool) { return value, r.Kind == RefFactor }))
	}
	if parsed < 5000 {
		t.Errorf("only %d of 20000 random texts were templates", parsed)
	}
}

func checkRoundTrip(t *testing.T, tmpl Template) {
	t.Helper()
	again, err := ParseTemplate(tmpl.String(), Pos{})
	if err != nil {
		t.Fatalf("%q, written by a template, cannot be read: %v", tmpl, err)
	}
	if diff := cmp.Diff(again, Template{parts: tmpl.parts}, templates); diff != "" {
		t.Fatalf("%q read again (-got +want):\n%s", tmpl, diff)
	}
	b, err := json.Marshal(tmpl)
	if err != nil {
		t.Fatal(err)
	}
	var decoded Template
	if err := json.Unmarshal(b, &decoded); err != nil || decoded.String() != tmpl.String() {
		t.Fatalf("%s read from JSON gives %q, %v", b, decoded, err)
	}
}

func FuzzParseTemplate(f *testing.F) {
	for _, src := range []string{"", "a", "${a}", "$${a}", "$$${a}", "${$}${a}", "${self:80}", "${addr:r:1}", "${random:1..2}", "${a.b}", "${"} {
		f.Add(src, "$")
	}
	f.Fuzz(func(t *testing.T, src, value string) {
		tmpl, err := ParseTemplate(src, Pos{})
		if err != nil {
			var bad *TemplateError
			if !errors.As(err, &bad) || bad.Offset < 0 || !strings.HasPrefix(src[min(bad.Offset, len(src)):], "${") {
				t.Errorf("%q: error %v does not point at a reference", src, err)
			}
			return
		}
		again, err := ParseTemplate(tmpl.String(), Pos{})
		if err != nil || cmp.Diff(again, tmpl, templates) != "" {
			t.Errorf("%q is read as %q and again as %q (%v)", src, tmpl, again, err)
		}
		resolved := tmpl.Resolve(func(r Ref) (string, bool) { return value, r.Kind == RefFactor })
		again, err = ParseTemplate(resolved.String(), Pos{})
		if err != nil || cmp.Diff(again, resolved, templates) != "" {
			t.Errorf("%q with %q is %q and read again %q (%v)", src, value, resolved, again, err)
		}
	})
}
