package experiment

// The kinds of failures, as they are counted in LoadResult.Errors and Totals.Errors.
const (
	FailureTimeout   = "timeout"   // no whole response in time, counted from the real send
	FailureReset     = "reset"     // the connection was reset
	FailureRefused   = "refused"   // connection refused
	FailureConnect   = "connect"   // no connection for another reason: unreachable, no free port
	FailureTLS       = "tls"       // the connection could not be secured
	FailureEOF       = "eof"       // the connection was closed before the response was whole
	FailureProtocol  = "protocol"  // what came is no response of the protocol
	FailureOversized = "oversized" // the head of a response, or what stands between its chunks, is too large
	FailureStatus    = "status"    // a whole response whose status is not one of those expected
	FailureBody      = "body"      // an expected status, and the body lacks what it must hold
	FailureOther     = "other"     // the tool does not say what it was, or nothing that is known here
)
