package reader

import "strings"

// Kinds of failures, as in experiment.LoadResult.Errors.
const (
	failTimeout  = "timeout"
	failReset    = "reset"
	failRefused  = "refused"
	failConnect  = "connect"
	failEOF      = "eof"
	failProtocol = "protocol"
	failStatus   = "status"
	failBody     = "body"
	failTLS      = "tls"
	failOther    = "other" // the tool does not say what it was, or nothing that is known here
)

// failureOfGo gives the kind of an error as Go's net/http words it.
func failureOfGo(text string) string {
	for _, one := range []struct{ has, kind string }{
		{"deadline exceeded", failTimeout},
		{"Client.Timeout", failTimeout},
		{"imeout", failTimeout}, // i/o timeout, request timeout, Timeout was reached
		{"connection refused", failRefused},
		{"connection reset", failReset},
		{"broken pipe", failReset},
		{"EOF", failEOF},
		{"server closed", failEOF},
		{"connection broken", failEOF},
		{"tls:", failTLS},
		{"x509:", failTLS},
		{"no such host", failConnect},
		{"lookup ", failConnect},
		{"dial ", failConnect},
		{"malformed", failProtocol},
		{"http:", failProtocol},
		{"http2:", failProtocol},
		{"net/http:", failProtocol},
	} {
		if strings.Contains(text, one.has) {
			return one.kind
		}
	}
	return failOther
}
