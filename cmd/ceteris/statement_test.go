package main

import "testing"

func TestStatements(t *testing.T) {
	for _, c := range []struct{ name, text, first, rest string }{
		{"none", " ", "", ""},
		{"but a remark", "-- select 1; select 2", "", ""},
		{"one", " select 1", "select 1", ""},
		{"one, ended", "select 1;", "select 1", ""},
		{"ended twice, and a remark", "select 1; ; -- done; select 2\n", "select 1", ""},
		{"two", "select 1; select 2", "select 1", "select 2"},
		{"two behind a remark", "select 1; /* and; */ select 2", "select 1", "select 2"},
		{"a remark that is not closed", "select 1; /* select 2", "select 1", ""},
		{"in a string", "select 'a; b'", "select 'a; b'", ""},
		{"in a string with a quote", "select 'it''s; so'", "select 'it''s; so'", ""},
		{"in quoted names", "select \"a; b\", [c; d], `e; f`", "select \"a; b\", [c; d], `e; f`", ""},
		{"in a remark", "select 1 -- a; b\n + 1", "select 1 -- a; b\n + 1", ""},
		{"a string that is not closed", "select 'a; select 2", "select 'a; select 2", ""},
		{"behind an empty one", "; select 1", "select 1", ""},
		{"a minus is no remark", "select 1-1; select 2", "select 1-1", "select 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if first, rest := statements(c.text); first != c.first || rest != c.rest {
				t.Errorf("got %q and %q, want %q and %q", first, rest, c.first, c.rest)
			}
		})
	}
}
