package reader

import (
	"errors"
	"fmt"
	"io"

	"github.com/ceteris/ceteris/experiment"
)

// maxOutput is the longest output that is read, in bytes.
const maxOutput = 1 << 30

// format reads all of an output. Cut-off output wraps experiment.ErrIncomplete.
type format func(data []byte, span experiment.Span) (*result, error)

// tool is a load generator whose output is read.
type tool struct {
	name    string
	formats string              // for messages: "its summary, JSON or CSV"
	detect  func([]byte) format // nil: none of its formats
}

var _ experiment.OutputReader = tool{}

// ReadOutput reads an output of the tool, in whichever of its formats it is.
func (t tool) ReadOutput(r io.Reader, span experiment.Span) (experiment.LoadResult, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxOutput+1))
	switch {
	case err != nil:
		return experiment.LoadResult{}, fmt.Errorf("read the output of %s: %w", t.name, err)
	case len(data) > maxOutput:
		return experiment.LoadResult{}, fmt.Errorf("read the output of %s: more than %d bytes", t.name, maxOutput)
	case len(data) == 0:
		return experiment.LoadResult{}, fmt.Errorf("read the output of %s: %w: it is empty: the tool was stopped before it wrote its result", t.name, experiment.ErrIncomplete)
	}
	read := t.detect(data)
	if read == nil {
		return experiment.LoadResult{}, fmt.Errorf("read the output of %s: %s begins it, and %s is wanted", t.name, quote(data), t.formats)
	}
	out, err := read(data, span)
	if err != nil {
		err = fmt.Errorf("read the output of %s: %w", t.name, err)
	}
	if out == nil {
		return experiment.LoadResult{}, errors.Join(err)
	}
	return out.finish(), err
}

// quote shows the begin of foreign text.
func quote(data []byte) string {
	const most = 60 // bytes
	if len(data) > most {
		return fmt.Sprintf("%.*q...", most, data[:most])
	}
	return fmt.Sprintf("%q", data)
}

// incomplete is an output that was cut off.
func incomplete(format string, a ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{experiment.ErrIncomplete}, a...)...)
}
