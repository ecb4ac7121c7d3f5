package step

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
)

func TestExtract(t *testing.T) {
	columns := []experiment.Extract{{Name: "p99", Path: "99%"}, {Name: "done", Path: "count"}, {Name: "none", Path: "nothing"}}
	for _, tc := range []struct {
		name, body string
		step       experiment.Step
		want       map[string]string
		fault      string
	}{
		{"nothing wanted", "x", experiment.Step{}, nil, ""},
		{"named groups", "a=1 b=2", experiment.Step{Regex: `a=(?P<a>\d) b=(?P<b>\d)`}, map[string]string{"a": "1", "b": "2"}, ""},
		{"the last match counts", "tps 10\ntps 20\n", experiment.Step{Regex: `tps (?P<tps>\d+)`}, map[string]string{"tps": "20"}, ""},
		{"a group without part in it", "on", experiment.Step{Regex: `(?P<on>on)|(?P<off>off)`}, map[string]string{"on": "on"}, ""},
		{"no match", "nothing\nhere", experiment.Step{Regex: `tps (?P<tps>\d+)`}, nil, `"tps (?P<tps>\\d+)" matches nothing in: nothing here`},
		{"the last row", "count, 99%\n1,0.5\n2,\"0.7\"\n", experiment.Step{CSV: columns}, map[string]string{"done": "2", "p99": "0.7"}, ""},
		{"a short row", "count,99%\n7\n", experiment.Step{CSV: columns}, map[string]string{"done": "7"}, ""},
		{"a header alone", "count,99%\n", experiment.Step{CSV: columns}, nil, "no CSV with a header and a row: count,99%"},
		{"no CSV", "a\"b\n", experiment.Step{CSV: columns}, nil, `no CSV: parse error on line 1, column 2: bare " in non-quoted-field`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, fault := Take(tc.step, []byte(tc.body))
			if fault != tc.fault {
				t.Errorf("fault %q, want %q", fault, tc.fault)
			}
			if diff := cmp.Diff(got, tc.want); diff != "" {
				t.Errorf("values (-got +want):\n%s", diff)
			}
		})
	}
}

func TestNear(t *testing.T) {
	for _, tc := range []struct {
		got, want string
		share     float64
		near      bool
	}{
		{"100", "100", 0, true},
		{"105", "100", 0.05, true},
		{"95", "100", 0.05, true},
		{"105.1", "100", 0.05, false},
		{"-95", "-100", 0.05, true},
		{" 1e2\n", "100", 0, true},
		{"0", "0", 0.05, true},
		{"0.01", "0", 0.05, false},
		{"many", "100", 1, false},
		{"NaN", "100", 1, false},
		{"Inf", "100", 1, false},
	} {
		if got := near(tc.got, tc.want, tc.share); got != tc.near {
			t.Errorf("%q near %q±%v: got %v", tc.got, tc.want, tc.share, got)
		}
	}
	s := experiment.Step{Regex: `(?P<n>\S+)`, Near: []experiment.Near{{Name: "n", Value: experiment.Literal("200"), Share: 0.025}, {Name: "m", Value: experiment.Literal("1")}}}
	want := []experiment.Confirmation{
		{Service: "app", Name: "n", Want: "200±2.5%", Got: "206"},
		{Service: "app", Name: "m", Want: "1±0%", Got: "absent"},
	}
	a := Judge(s, "app", []byte("206"))
	if diff := cmp.Diff(a.Confirmations, want); diff != "" {
		t.Errorf("confirmations (-got +want):\n%s", diff)
	}
	if err := a.Err(); err == nil || err.Error() != `n is "206", not "200±2.5%"` {
		t.Errorf("got %v", err)
	}
}

// drawer holds files, and answers every command with how it ends.
type drawer struct {
	files map[string]string
	end   experiment.ExecResult
}

func (d drawer) Exec(context.Context, []string) (experiment.ExecResult, error) { return d.end, nil }

func (d drawer) ReadFile(_ context.Context, path string) ([]byte, error) {
	if text, ok := d.files[path]; ok {
		return []byte(text), nil
	}
	if strings.HasPrefix(path, "/secret") {
		return nil, fs.ErrPermission
	}
	return nil, fs.ErrNotExist
}

func TestAsk(t *testing.T) {
	unresolved, err := experiment.ParseTemplate("${self:80}", experiment.Pos{})
	if err != nil {
		t.Fatal(err)
	}
	file := func(path string) experiment.Step {
		return experiment.Step{File: experiment.Literal(path), Has: experiment.Literal("on")}
	}
	target := Target{
		Name: "app", Exec: drawer{map[string]string{"/etc/app.conf": "cache on"}, experiment.ExecResult{Code: 3, Output: []byte("no\n such thing")}},
		Logs: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("a\nserved 5\n")), nil
		},
	}
	for _, tc := range []struct {
		name  string
		step  experiment.Step
		t     Target
		body  string
		fault string
		err   string
	}{
		{"a file", file("/etc/app.conf"), target, "cache on", "", ""},
		{"no such file", file("/etc/none"), target, "", "there is no file /etc/none", ""},
		{"a file out of reach", file("/secret/x"), target, "", "", "service app: read /secret/x: permission denied"},
		{"files that cannot be read", file("/etc/app.conf"), Target{Name: "app"}, "", "", "service app: files of this service cannot be read"},
		{"a command that fails", experiment.Step{Run: []experiment.Template{experiment.Literal("show")}}, target, "no\n such thing", "show ended with 3: no such thing", ""},
		{"a command with a reference", experiment.Step{Run: []experiment.Template{unresolved}}, target, "", "", "service app: ${self:80} is not resolved"},
		{"a line of the log", experiment.Step{Log: "served"}, target, "served 5\n", "", ""},
		{"nothing", experiment.Step{}, target, "", "", "service app: the step asks nothing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, err := Ask(t.Context(), tc.step, tc.t)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if string(a.Body) != tc.body || a.Fault != tc.fault || text != tc.err {
				t.Errorf("got %q, fault %q, error %q; want %q, %q, %q", a.Body, a.Fault, text, tc.body, tc.fault, tc.err)
			}
			if tc.fault != "" && (a.Err() == nil || a.Confirmed("app")[0].OK) {
				t.Error("a fault holds")
			}
		})
	}
	if _, err := Ask(t.Context(), file("/secret/x"), target); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v", err)
	}
}
