package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestRunLogStaysSmall(t *testing.T) {
	for _, c := range []struct {
		name   string
		before int // bytes
		want   int
	}{
		{"none yet", -1, 4},
		{"some", 100, 104},
		{"as large as it may be", maxRunLog, maxRunLog + 4},
		{"larger", maxRunLog + 1, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			database := filepath.Join(t.TempDir(), "x.db")
			if c.before >= 0 {
				if err := os.WriteFile(database+".log", bytes.Repeat([]byte("."), c.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			f, err := openRunLog(database)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteString("line"); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(database + ".log")
			if err != nil || len(got) != c.want || !bytes.HasSuffix(got, []byte("line")) {
				t.Errorf("%d bytes, %v, want %d with the new ones last", len(got), err, c.want)
			}
		})
	}
}
