package experiment

import "context"

// LogEnds is the beginning and the end of what a service wrote.
type LogEnds struct {
	Head, Tail []byte
	Cut        bool  // something between the two was left out
	Full       int64 // bytes written; 0 if something was left out and nobody counted it
}

// LogEnder is a Proc that gives the ends of its log without reading what lies
// between them.
type LogEnder interface {
	// LogEnds gives most bytes of each end, if there are as many.
	LogEnds(ctx context.Context, most int64) (LogEnds, error)
}
