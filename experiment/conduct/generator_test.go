package conduct

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

// What is too long for a variable goes by a file, and is the same load.
func TestGeneratorsFiles(t *testing.T) {
	for _, tc := range []struct {
		name  string
		body  string
		files int
		env   string
	}{
		{"short", "x", 0, ""},
		{"long", strings.Repeat("x${", mostInEnv), 1, "@${file:/ceteris/load.json}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &sweep{Conductor: &Conductor{}}
			svc := s.generator(experiment.Load{Requests: []experiment.Request{{Body: experiment.Literal(tc.body)}}})
			if len(svc.Files) != tc.files {
				t.Fatalf("%d files, want %d", len(svc.Files), tc.files)
			}
			spec, ok := svc.Env[0].Value.Literal()
			if tc.files == 1 {
				if got := svc.Env[0].Value.String(); got != tc.env || svc.Env[0].Name != experiment.GeneratorEnv {
					t.Errorf("%s=%s", svc.Env[0].Name, got)
				}
				spec, ok = svc.Files[0].Content.Literal()
			}
			var l experiment.Load
			if err := json.Unmarshal([]byte(spec), &l); err != nil || !ok {
				t.Fatal(err)
			}
			if body, _ := l.Requests[0].Body.Literal(); body != tc.body {
				t.Errorf("the body of %d bytes came as %d", len(tc.body), len(body))
			}
		})
	}
}

func TestGeneratorsData(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users.csv")
	if err := os.WriteFile(path, []byte("user\n${a}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	svc, err := withData(experiment.Service{}, &experiment.DataFeed{File: path, SHA256: "0d6c9b0d1b49e9b4f6a2d1f2b7b0a5f4"})
	if err == nil || err.Error() != "read the data of the load: "+path+" has changed since the sweep began" {
		t.Errorf("another file: got %v, %v", svc, err)
	}
	if svc, err = withData(experiment.Service{}, &experiment.DataFeed{File: path}); err != nil {
		t.Fatal(err)
	}
	if text, _ := svc.Files[0].Content.Literal(); text != "user\n${a}\n" || svc.Files[0].Path != experiment.DataPath {
		t.Errorf("file %s holds %q", svc.Files[0].Path, text)
	}
	if e := svc.Env[0]; e.Name != experiment.DataEnv || e.Value.String() != "${file:/ceteris/data.csv}" {
		t.Errorf("%s=%s", e.Name, e.Value)
	}
}
