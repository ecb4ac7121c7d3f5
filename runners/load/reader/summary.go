package reader

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ceteris/ceteris/experiment"
)

// asSummary is a format whose whole is taken into memory at once, many times over.
func asSummary(read format) format {
	return func(data []byte, span experiment.Span) (*result, error) {
		if len(data) > maxText {
			return nil, fmt.Errorf("it is longer than %d bytes: no summary is", maxText)
		}
		return read(data, span)
	}
}

// cutJSON reports whether JSON ends too early.
func cutJSON(data []byte, err error) bool {
	var syntax *json.SyntaxError
	return errors.As(err, &syntax) && syntax.Offset >= int64(len(data))
}

// wholeRun warns where a summary should have been cut to the window.
func wholeRun(out *result, span experiment.Span) {
	if span.IsZero() {
		out.note("the numbers are over all that the tool sent, a ramp and a warm-up of its own included")
		return
	}
	out.warn("the numbers are over all that the tool sent, and cannot be cut to the window from %s to %s", moment(span.Begin), moment(span.End))
}

func moment(at time.Time) string {
	if at.IsZero() {
		return "its end"
	}
	return at.UTC().Format(time.RFC3339)
}
