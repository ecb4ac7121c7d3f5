package load

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func TestFeedGivesItsRowsInACircle(t *testing.T) {
	f, err := ParseFeed([]byte("user,note\nann,\"a, \"\"b\"\"\nc\"\nbob,\n"), experiment.DataFeed{Columns: []string{"user", "note"}})
	if err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for range 3 {
		got = append(got, f.take())
	}
	want := [][]string{{"ann", "a, \"b\"\nc"}, {"bob", ""}, {"ann", "a, \"b\"\nc"}}
	if d := cmp.Diff(got, want); d != "" {
		t.Errorf("(-got +want):\n%s", d)
	}
}

func TestFeedsThatAreNone(t *testing.T) {
	tests := map[string]struct {
		text string
		plan experiment.DataFeed
		want string
	}{
		"empty":          {"", experiment.DataFeed{}, "data: it is empty"},
		"no row":         {"a,b\n", experiment.DataFeed{}, "no row after the header"},
		"a short row":    {"a,b\n1,2\n3\n", experiment.DataFeed{}, "data: line 3 has 1 fields, the header has 2"},
		"a long row":     {"a,b\n\n1,2,3\n", experiment.DataFeed{}, "data: line 3 has 3 fields, the header has 2"},
		"a stray quote":  {"a,b\n1,\"2\"3\n", experiment.DataFeed{}, "data: "},
		"a column twice": {"a,a\n1,2\n", experiment.DataFeed{}, `column 2 is named "a"`},
		"without a name": {"a,\n1,2\n", experiment.DataFeed{}, `column 2 is named ""`},
		"other columns":  {"a,b\n1,2\n", experiment.DataFeed{Columns: []string{"a"}}, "those of the plan"},
		"other bytes":    {"a\n1\n", experiment.DataFeed{SHA256: strings.Repeat("0", 64)}, "its checksum differs"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := ParseFeed([]byte(tt.text), tt.plan)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want it to hold %q", err, tt.want)
			}
		})
	}
	const sum = "309b0e45a73d3fc5325e2b6ed0a01ef8b9cde6b05a5633c1f893f970d52bfddc" // of the text below
	if _, err := ParseFeed([]byte("a\n1\n"), experiment.DataFeed{SHA256: sum}); err != nil {
		t.Errorf("the file of the plan: %v", err)
	}
}

func TestValuesMustNotBreakTheirLine(t *testing.T) {
	requests := []experiment.Request{{
		Path: template(t, "/${data:path}"), Headers: []experiment.EnvVar{header(t, "X-A", "${data:header}")}, Body: template(t, "${data:body}"),
	}}
	tests := map[string]struct{ path, header, body, want string }{
		"all of them can stand there": {"a%20b", "a b\té", "a\nb", ""},
		"a blank in the path":         {"a b", "", "", `row 1: "a b" in column path cannot stand in the path`},
		"a line feed in the path":     {"a\nb", "", "", "in column path cannot stand in the path"},
		"a fragment":                  {"a#b", "", "", "in column path cannot stand in the path"},
		"a line feed in a header":     {"", "a\nX: b", "", `in column header cannot stand in the header X-A`},
		"a return in a header":        {"", "a\rX: b", "", `in column header cannot stand in the header X-A`},
		"a NUL in a header":           {"", "\x00", "", `in column header cannot stand in the header X-A`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := &Feed{columns: []string{"path", "header", "body"}, rows: [][]string{{tt.path, tt.header, tt.body}}}
			err := f.Check(requests)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// Whatever the bytes: a feed has rows of one length, and what passed the check leaves a
// request with the lines that it should have.
func FuzzFeed(f *testing.F) {
	for _, s := range []string{"user\nann\n", "user,b\n\"a\r\nb\",c\n", "user\n\"x\ny\"\n", "\xef\xbb\xbfuser\n1\n", "user\n\n", "a,b\n1\n", "user\n\"\r\"\n"} {
		f.Add([]byte(s))
	}
	q := experiment.Request{Method: "GET", Path: template(f, "/${data:user}"), Headers: []experiment.EnvVar{header(f, "X", "${data:user}")}}
	f.Fuzz(func(t *testing.T, in []byte) {
		feed, err := ParseFeed(in, experiment.DataFeed{})
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "data: ") {
				t.Errorf("the error is %q", err)
			}
			return
		}
		for _, row := range feed.rows {
			if len(row) != len(feed.columns) {
				t.Fatalf("a row of %d fields under %d", len(row), len(feed.columns))
			}
		}
		r, err := compileOne(q, feed.columns, "h:1", true)
		if err != nil || feed.Check([]experiment.Request{q}) != nil {
			return
		}
		var cn conn
		for range feed.rows {
			r.write(&cn, nil, feed.take())
			if n := strings.Count(string(cn.out), "\n"); n != 6 || strings.Count(string(cn.out), "\r") != n {
				t.Fatalf("%q has %d lines", cn.out, n)
			}
		}
	})
}
