//go:build cgo

package db

import (
	"fmt"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// register adds the functions to a connection.
func register(c *sqlite3.SQLiteConn, funcs []SQLFunc) error {
	for _, f := range funcs {
		constructor, err := f.constructor()
		if err == nil {
			err = c.RegisterAggregator(f.Name, constructor, true)
		}
		if err != nil {
			return fmt.Errorf("register SQL function %s: %w", f.Name, err)
		}
	}
	return nil
}

// constructor gives what the driver makes an aggregate of: it tells the number of
// arguments by the type of Step.
func (f SQLFunc) constructor() (any, error) {
	switch f.Args {
	case 1:
		return func() *of1 { return &of1{f.begin()} }, nil
	case 2:
		return func() *of2 { return &of2{f.begin()} }, nil
	case 3:
		return func() *of3 { return &of3{f.begin()} }, nil
	case 4:
		return func() *of4 { return &of4{f.begin()} }, nil
	default:
		return nil, fmt.Errorf("%d arguments", f.Args)
	}
}

func (f SQLFunc) begin() group { return group{name: f.Name, of: f.New()} }

// group is an aggregate at work, with the name that its errors begin with.
type group struct {
	name string
	of   Aggregate
}

type (
	of1 struct{ group }
	of2 struct{ group }
	of3 struct{ group }
	of4 struct{ group }
)

func (g *of1) Step(a any) error          { return g.step(a) }
func (g *of2) Step(a, b any) error       { return g.step(a, b) }
func (g *of3) Step(a, b, c any) error    { return g.step(a, b, c) }
func (g *of4) Step(a, b, c, d any) error { return g.step(a, b, c, d) }

func (g group) step(args ...any) error {
	for i, a := range args {
		if b, ok := a.([]byte); ok && b == nil { // so the driver passes NULL
			args[i] = nil
		}
	}
	return g.named(g.of.Step(args))
}

// Done is called by the driver.
func (g group) Done() (any, error) {
	v, err := g.of.Done()
	if x, ok := v.(float64); ok && err == nil {
		err = finite(x)
	}
	return v, g.named(err)
}

func (g group) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", g.name, err)
}
