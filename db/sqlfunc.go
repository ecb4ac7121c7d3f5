package db

// SQLFunc is an aggregate that statements of a Reader may call besides those of
// SQLite. Several may have one name if they differ in Args.
type SQLFunc struct {
	Name string
	Args int // 1 to 4
	New  func() Aggregate
}

// Aggregate makes one value of many rows. It is made anew for each group, and used
// by one goroutine.
type Aggregate interface {
	// Step takes the arguments of one row: nil for NULL, else an int64, a float64, a
	// string or a []byte. An error ends the statement.
	Step(args []any) error
	// Done gives the value of the group, of the same types, also of one without rows.
	// A number that is not finite ends the statement with an error.
	Done() (any, error)
}
