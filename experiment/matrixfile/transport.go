package matrixfile

import (
	"crypto/x509"
	"encoding/pem"

	"github.com/ceteris/ceteris/experiment"
)

// The versions of HTTP that are spoken, and what becomes of arrivals that are overdue by
// the generator's own fault.
const (
	http1       = "1.1"
	http2       = "2"
	catchSpread = "spread"
)

func httpVersions() []string { return []string{http1, http2} }

func catchUps() []string { return []string{catchSpread, experiment.CatchUpBurst} }

func tlsShape() shape { return shape{known: words("server_name ca skip_verify")} }

// tls reads whether the load is sent over TLS, or how the server's certificate is checked.
func (r *reader) tls(v *value) *experiment.TLS {
	if v == nil || v.kind != mapping {
		if r.boolean(v, false) {
			return &experiment.TLS{}
		}
		return nil
	}
	o := r.object(v, tlsShape())
	t := experiment.TLS{SkipVerify: r.boolean(o["skip_verify"], false)}
	t.ServerName, _ = r.plain(o["server_name"])
	if o["ca"] == nil {
		return &t
	}
	if t.SkipVerify {
		r.faultAt(o["ca"], "", "nobody looks at it with skip_verify")
	}
	name := r.path(o["ca"], "as in ca: ca.pem")
	if name == "" {
		return &t
	}
	text, err := read(r.absolute(name), "a file of certificates", MaxBodyBytes+1)
	switch {
	case err != nil:
		r.faultAt(o["ca"], "", "%s: %w", name, err)
	case len(text) > MaxBodyBytes:
		r.faultAt(o["ca"], "", "%s: larger than %d KiB", name, MaxBodyBytes>>10)
	case !holdsCertificate(text):
		r.faultAt(o["ca"], "", "%s: holds no certificate in PEM", name)
	default:
		t.CA = string(text)
	}
	return &t
}

func holdsCertificate(text []byte) bool {
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return false
		}
		if _, err := x509.ParseCertificate(block.Bytes); block.Type == "CERTIFICATE" && err == nil {
			return true
		}
		text = rest
	}
}
