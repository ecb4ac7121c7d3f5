package db

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// told writes down what an aggregate is given.
type told struct {
	rows []string
	done any
}

func (a *told) Step(args []any) error {
	if args[0] == "bad" {
		return errors.New("bad is no number")
	}
	a.rows = append(a.rows, fmt.Sprintf("%#v", args))
	return nil
}

func (a *told) Done() (any, error) {
	switch {
	case a.done != nil:
		return a.done, nil
	case a.rows == nil:
		return nil, nil
	default:
		return strings.Join(a.rows, " "), nil
	}
}

func toldFuncs() []SQLFunc {
	tell := func() Aggregate { return &told{} }
	return []SQLFunc{
		{Name: "told", Args: 1, New: tell},
		{Name: "told", Args: 2, New: tell},
		{Name: "told", Args: 3, New: tell},
		{Name: "told", Args: 4, New: tell},
		{Name: "endless", Args: 1, New: func() Aggregate { return &told{done: math.Inf(1)} }},
		{Name: "half", Args: 1, New: func() Aggregate { return &told{done: 0.5} }},
	}
}

func TestFunctionsOfAReader(t *testing.T) {
	path := testPath(t)
	openAt(t, path)
	r, err := OpenReadOnly(t.Context(), path, toldFuncs()...)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, c := range []struct{ name, text, want string }{
		{
			"types", `SELECT told(column1) FROM (VALUES (1), (2.5), ('a'), (NULL), (x''), (x'07'))`,
			`[]interface {}{1} []interface {}{2.5} []interface {}{"a"} []interface {}{interface {}(nil)} []interface {}{[]uint8{}} []interface {}{[]uint8{0x7}}`,
		},
		{"arguments", `SELECT told(1, 2) || told(1, 2, 3) || told(1, 2, 3, 4)`, `[]interface {}{1, 2}[]interface {}{1, 2, 3}[]interface {}{1, 2, 3, 4}`},
		{"groups", `SELECT group_concat(t) FROM (SELECT told(column2) AS t FROM (VALUES (1, 7), (2, 8), (1, 9)) GROUP BY column1)`, `[]interface {}{7} []interface {}{9},[]interface {}{8}`},
		{"no rows", `SELECT told(1) WHERE 0`, `<nil>`},
		{"a number", `SELECT half(1)`, `0.5`},
		{"an error in a row", `SELECT told('bad')`, `told: bad is no number`},
		{"no finite value", `SELECT endless(1)`, `endless: +Inf is no finite value`},
		{"too many arguments", `SELECT half(1, 2) WHERE 0`, `wrong number of arguments to function half()`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, oneValue(t, r, c.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// oneValue gives the one value of a statement, or its error.
func oneValue(t *testing.T, r *Reader, text string) string {
	t.Helper()
	_, rows, err := r.Query(t.Context(), text)
	if err != nil {
		return err.Error()
	}
	got := ""
	for row, err := range rows {
		if err != nil {
			return err.Error()
		}
		got += fmt.Sprint(row[0])
	}
	return got
}

// TestFunctionsOnEveryConnection: a pool opens more than one.
func TestFunctionsOnEveryConnection(t *testing.T) {
	path := testPath(t)
	openAt(t, path)
	r, err := OpenReadOnly(t.Context(), path, toldFuncs()...)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 4 {
		c, err := r.pool.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		var got float64
		if err := c.QueryRowContext(t.Context(), `SELECT half(1)`).Scan(&got); err != nil || got != 0.5 {
			t.Errorf("%v, %v", got, err)
		}
	}
	if got := oneValue(t, readAt(t, path), `SELECT half(1)`); got != "no such function: half" {
		t.Errorf("a reader without functions: %s", got)
	}
}

func TestFunctionThatCannotBe(t *testing.T) {
	path := testPath(t)
	openAt(t, path)
	_, err := OpenReadOnly(t.Context(), path, SQLFunc{Name: "none", New: func() Aggregate { return &told{} }})
	checkRefusal(t, err, "register SQL function none: 0 arguments", nil)
}
