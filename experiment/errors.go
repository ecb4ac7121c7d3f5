package experiment

import (
	"errors"
	"fmt"
	"strings"
)

// Sentinels on which callers branch.
var (
	ErrNotYet       = errors.New("not yet built")                    // a feature that the language names but this version lacks
	ErrNoRuntime    = errors.New("no container engine answers")      // Runner.Check
	ErrCannotRun    = errors.New("cannot measure here")              // host unfit: exit 4
	ErrNotReady     = errors.New("not ready")                        // Launch: readiness not reached in time
	ErrExited       = errors.New("exited")                           // Launch: the service ended before it was ready
	ErrNoCommand    = errors.New("there is no such command")         // Execer.Exec: it cannot be executed there
	ErrIncomplete   = errors.New("result incomplete")                // LoadReader: gap, checksum, or no result
	ErrLocked       = errors.New("locked by another ceteris")        // database or engine host
	ErrDiskFull     = errors.New("the disk is full")                 // Store: nothing of the call was stored
	ErrSchemaNewer  = errors.New("database is newer than this tool") // db.Open
	ErrUnknownSweep = errors.New("no such sweep")
)

// Pos is a place in a file. Line and Column count from 1; zero means unknown.
type Pos struct {
	File         string
	Line, Column int
}

func (p Pos) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.File == "":
		return fmt.Sprintf("%d:%d", p.Line, p.Column)
	default:
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
}

// FieldError is one fault of a matrix: where it stands, which field, what is
// wrong, and, where there is advice, what to do.
type FieldError struct {
	At   Pos
	Path string // dotted field path, for example subject.services.app.env
	Err  error
	Hint string

	// Lacking is the path of the part in which something is not to be found,
	// where the fault says just that; "." is the whole matrix. Who could not read that part drops it.
	Lacking string

	// Variant is the number, from 1, of the variant of the matrix that is at fault; 0
	// is the matrix as declared.
	Variant int
}

func (e *FieldError) Error() string {
	var b strings.Builder
	if at := e.At.String(); at != "" {
		b.WriteString(at + ": ")
	}
	if e.Path != "" {
		b.WriteString(e.Path + ": ")
	}
	b.WriteString(e.Err.Error())
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

func (e *FieldError) Unwrap() error { return e.Err }

// HintError carries advice beside an error, outside its message.
type HintError struct {
	Err  error
	Hint string
}

func (e *HintError) Error() string { return e.Err.Error() }
func (e *HintError) Unwrap() error { return e.Err }

// WithHint wraps err with advice for the user; nil stays nil.
func WithHint(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &HintError{Err: err, Hint: hint}
}
