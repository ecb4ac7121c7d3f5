package reader

import (
	"strings"

	"github.com/ceteris/ceteris/experiment"
)

// failureOfGo gives the kind of an error as Go's net/http words it.
func failureOfGo(text string) string {
	for _, one := range []struct{ has, kind string }{
		{"deadline exceeded", experiment.FailureTimeout},
		{"Client.Timeout", experiment.FailureTimeout},
		{"imeout", experiment.FailureTimeout}, // i/o timeout, request timeout, Timeout was reached
		{"connection refused", experiment.FailureRefused},
		{"connection reset", experiment.FailureReset},
		{"broken pipe", experiment.FailureReset},
		{"EOF", experiment.FailureEOF},
		{"server closed", experiment.FailureEOF},
		{"connection broken", experiment.FailureEOF},
		{"tls:", experiment.FailureTLS},
		{"x509:", experiment.FailureTLS},
		{"no such host", experiment.FailureConnect},
		{"lookup ", experiment.FailureConnect},
		{"dial ", experiment.FailureConnect},
		{"malformed", experiment.FailureProtocol},
		{"http:", experiment.FailureProtocol},
		{"http2:", experiment.FailureProtocol},
		{"net/http:", experiment.FailureProtocol},
	} {
		if strings.Contains(text, one.has) {
			return one.kind
		}
	}
	return experiment.FailureOther
}
