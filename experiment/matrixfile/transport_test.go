package matrixfile_test

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/matrixfile"
)

// TestAuthorities: the certificates are part of the matrix, so others are another sweep.
func TestAuthorities(t *testing.T) {
	server := httptest.NewTLSServer(nil)
	server.Close()
	good := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	dir := t.TempDir()
	for name, text := range map[string]string{
		"good.pem": good, "two.pem": "other text\n" + good + good, "key.pem": strings.ReplaceAll(good, "CERTIFICATE", "PRIVATE KEY"),
		"cut.pem": good[:200] + "\n-----END CERTIFICATE-----\n", "empty.pem": "", "large.pem": good + strings.Repeat("\n", matrixfile.MaxBodyBytes),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	of := func(file string) (*experiment.Matrix, error) {
		return matrixfile.Parse("m.yaml", dir, []byte(edited(t, shape, shape+"  tls: {ca: "+file+"}\n")))
	}
	hashes := map[string]bool{}
	for file, want := range map[string]string{"good.pem": good, "two.pem": "other text\n" + good + good} {
		m, err := of(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(m.Load.TLS, &experiment.TLS{CA: want}); d != "" {
			t.Errorf("%s (-got +want):\n%s", file, d)
		}
		hashes[m.Hash()] = true
	}
	if len(hashes) != 2 {
		t.Error("other authorities are the same sweep")
	}
	for file, want := range map[string]string{
		"key.pem": "holds no certificate in PEM", "cut.pem": "holds no certificate in PEM", "empty.pem": "holds no certificate in PEM",
		"large.pem": "larger than 1024 KiB", ".": "a directory, not a file of certificates",
	} {
		_, err := of(file)
		if want = "m.yaml:38:13: load.tls.ca: " + file + ": " + want; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
