package matrixfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/matrixfile"
)

// TestFilesOfLoad reads bodies and data that stand in files beside the matrix.
func TestFilesOfLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("body.json", `{"user": ${random:1..9}, "text": "$${x}"}`)
	write("users.csv", "user,name\n1,\"a, b\"\n2,c\n")
	write("bytes", "\xff")
	write("bad.json", "{}\n${user")
	write("large", strings.Repeat("x", matrixfile.MaxBodyBytes+1))
	write("header.csv", "user\n")
	write("twice.csv", "user,user\n1,2\n")
	write("ragged.csv", "user,name\n1\n")
	write("empty.csv", "")
	post := func(body string) []string {
		return []string{request, `request: {path: /, method: POST, body: "` + body + `"}`}
	}
	data := func(file string) []string {
		return []string{request, `request: {path: "/${data:user}"}` + "\n  data: {file: " + file + "}"}
	}
	m, err := matrixfile.Parse("m.yaml", dir, []byte(edited(t, post("@body.json")...)))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Load.Requests[0].Body.String(), `{"user": ${random:1..9}, "text": "$${x}"}`; got != want {
		t.Errorf("body %s, want %s", got, want)
	}
	m, err = matrixfile.Parse("m.yaml", dir, []byte(edited(t, data("users.csv")...)))
	if err != nil {
		t.Fatal(err)
	}
	feed := &experiment.DataSpec{
		File: "users.csv", Columns: []string{"user", "name"}, Rows: 2, At: experiment.Pos{File: "m.yaml", Line: 35, Column: 9},
		SHA256: "f39761be594906f9d06d58937fcf49852a301fe0feee2372aa9dd4f12866e109",
	}
	if diff := cmp.Diff(m.Load.Data, feed); diff != "" {
		t.Errorf("data (-got +want):\n%s", diff)
	}
	for _, c := range []struct {
		name    string
		replace []string
		want    string
	}{
		{"no text", post("@bytes"), "m.yaml:34:42: load.request.body: bytes: is not UTF-8"},
		{"bad reference", post("@bad.json"), `m.yaml:34:42: load.request.body: bad.json:2: "${user" is not closed (add }, or write $${ for a literal ${)`},
		{"too large", post("@large"), "m.yaml:34:42: load.request.body: large: larger than 1024 KiB"},
		{"directory", post("@."), "m.yaml:34:42: load.request.body: .: a directory, not a body"},
		{"header only", data("header.csv"), "m.yaml:35:16: load.data.file: header.csv: has no row under its header"},
		{"no header", data("empty.csv"), "m.yaml:35:16: load.data.file: empty.csv: has no header row"},
		{"column twice", data("twice.csv"), `m.yaml:35:16: load.data.file: twice.csv: column 2 is named "user", which is empty or taken`},
		{"ragged", data("ragged.csv"), "m.yaml:35:16: load.data.file: ragged.csv: record on line 2: wrong number of fields"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := matrixfile.Parse("m.yaml", dir, []byte(edited(t, c.replace...)))
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}
