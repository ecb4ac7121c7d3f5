package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Expr is a formula that makes a metric of others:
//
//	sum     = product { ("+" | "-") product }
//	product = factor { ("*" | "/") factor }
//	factor  = NUMBER | NAME | FUNCTION "(" NAME ")" | "(" sum ")" | "-" factor
//
// A name alone is the value of a metric in the measured window: throughput,
// latency_p99, app.cpu, spike:throughput, throughput{search}. The functions look at
// the metric's series in the window: delta is the last value minus the first, slope the
// growth a second of the straight line through all of them, and max, mean and last
// what they say.
//
// Names of services may hold hyphens: one that touches a letter on both sides belongs
// to the name, so a minus between two names wants spaces.
type Expr struct{ root exprNode }

// ExprEnv is where an expression finds its values; false and no points mean that there
// is no such metric.
type ExprEnv struct {
	Value  func(name string) (float64, bool)
	Series func(name string) []SeriesPoint // of the window, in order of time
}

// ExprError is a fault of an expression's text.
type ExprError struct {
	Offset int // in bytes
	Err    error
}

func (e *ExprError) Error() string { return fmt.Sprintf("at byte %d: %v", e.Offset, e.Err) }
func (e *ExprError) Unwrap() error { return e.Err }

// ErrUndefined says that an expression has no value in a run: a metric is absent, or
// the formula divides by zero.
var ErrUndefined = errors.New("has no value")

// maxExprDepth bounds how deep parentheses and signs may be nested.
const maxExprDepth = 100

// ParseExpr reads an expression. The error is an *ExprError.
func ParseExpr(text string) (Expr, error) {
	p := exprParser{text: text}
	root := p.sum()
	p.space()
	if p.err == nil && p.at < len(text) {
		p.fail(p.at, "%.20q is not expected here", text[p.at:])
	}
	if p.err != nil {
		return Expr{}, p.err
	}
	return Expr{root: root}, nil
}

// Names lists the metrics of which the expression is made, sorted, each once.
func (e Expr) Names() []string {
	var names []string
	for _, u := range e.uses() {
		names = append(names, u.name)
	}
	return slices.Compact(names)
}

// exprUse is what an expression wants of a metric: its value, or, where points is not
// 0, so many points of its series at least.
type exprUse struct {
	name   string
	points int
}

// uses lists what the expression wants, by name, each once.
func (e Expr) uses() []exprUse {
	var out []exprUse
	var walk func(n exprNode)
	walk = func(n exprNode) {
		switch {
		case n.op == exprValue:
			out = append(out, exprUse{n.name, 0})
		case n.name != "":
			out = append(out, exprUse{n.name, fewestPoints(n.op)})
		}
		for _, a := range n.args {
			walk(a)
		}
	}
	walk(e.root)
	slices.SortFunc(out, func(a, b exprUse) int { return cmp.Or(cmp.Compare(a.name, b.name), a.points-b.points) })
	return slices.Compact(out)
}

// Eval computes the value. The error wraps ErrUndefined.
func (e Expr) Eval(env ExprEnv) (float64, error) {
	v, err := e.root.eval(env)
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		err = fmt.Errorf("the result is no finite number: %w", ErrUndefined)
	}
	return v, err
}

// exprNode is a number, the value of a name, a function of a name, or an operation
// on one or two nodes.
type exprNode struct {
	op     string // number, value, a function, or + - * / neg
	number float64
	name   string
	args   []exprNode
}

const (
	exprNumber = "number"
	exprValue  = "value"
	exprNeg    = "neg"
)

func (n exprNode) eval(env ExprEnv) (float64, error) {
	switch n.op {
	case exprNumber:
		return n.number, nil
	case exprValue:
		v, ok := env.Value(n.name)
		if !ok {
			return 0, fmt.Errorf("%s is absent: %w", n.name, ErrUndefined)
		}
		return v, nil
	case "delta", "max", "mean", "last", "slope":
		return reduce(n.op, n.name, env.Series(n.name))
	}
	var v [2]float64
	for i, a := range n.args {
		var err error
		if v[i], err = a.eval(env); err != nil {
			return 0, err
		}
	}
	switch n.op {
	case exprNeg:
		return -v[0], nil
	case "+":
		return v[0] + v[1], nil
	case "-":
		return v[0] - v[1], nil
	case "*":
		return v[0] * v[1], nil
	default:
		if v[1] == 0 {
			return 0, fmt.Errorf("it divides by zero: %w", ErrUndefined)
		}
		return v[0] / v[1], nil
	}
}

// fewestPoints is how many points of a series a function wants.
func fewestPoints(function string) int {
	if function == "delta" || function == "slope" {
		return 2
	}
	return 1
}

// reduce makes one number of a series.
func reduce(function, name string, points []SeriesPoint) (float64, error) {
	if len(points) < fewestPoints(function) {
		return 0, fmt.Errorf("%s(%s): the window holds %d values of it: %w", function, name, len(points), ErrUndefined)
	}
	last := points[len(points)-1].Value
	switch function {
	case "delta":
		return last - points[0].Value, nil
	case "last":
		return last, nil
	case "max":
		return slices.MaxFunc(points, func(a, b SeriesPoint) int { return cmp.Compare(a.Value, b.Value) }).Value, nil
	case "mean":
		sum := 0.0
		for _, p := range points {
			sum += p.Value
		}
		return sum / float64(len(points)), nil
	default:
		return slope(name, points)
	}
}

// slope is that of the least squares line, per second.
func slope(name string, points []SeriesPoint) (float64, error) {
	n := float64(len(points))
	var meanT, meanV float64
	for _, p := range points {
		meanT += float64(p.AtMS) / 1000 / n
		meanV += p.Value / n
	}
	var tt, tv float64
	for _, p := range points {
		t := float64(p.AtMS)/1000 - meanT
		tt += t * t
		tv += t * (p.Value - meanV)
	}
	if tt == 0 {
		return 0, fmt.Errorf("slope(%s): all values are of one moment: %w", name, ErrUndefined)
	}
	return tv / tt, nil
}

// exprParser reads from left to right; the first fault ends it.
type exprParser struct {
	text  string
	at    int
	depth int
	err   error
}

func (p *exprParser) fail(offset int, format string, a ...any) exprNode {
	if p.err == nil {
		p.err = &ExprError{Offset: offset, Err: fmt.Errorf(format, a...)}
	}
	return exprNode{}
}

func (p *exprParser) space() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t' || p.text[p.at] == '\n') {
		p.at++
	}
}

// take reads one of the characters, if one comes next.
func (p *exprParser) take(of string) (string, bool) {
	p.space()
	for i := range len(of) {
		if p.err == nil && p.at < len(p.text) && p.text[p.at] == of[i] {
			p.at++
			return of[i : i+1], true
		}
	}
	return "", false
}

func (p *exprParser) sum() exprNode     { return p.chain("+-", p.product) }
func (p *exprParser) product() exprNode { return p.chain("*/", p.factor) }

func (p *exprParser) chain(operators string, operand func() exprNode) exprNode {
	left := operand()
	for {
		op, ok := p.take(operators)
		if !ok {
			return left
		}
		left = exprNode{op: op, args: []exprNode{left, operand()}}
	}
}

func (p *exprParser) factor() exprNode {
	if p.depth++; p.depth > maxExprDepth {
		return p.fail(p.at, "it is nested deeper than %d", maxExprDepth)
	}
	defer func() { p.depth-- }()
	if _, ok := p.take("("); ok {
		inner := p.sum()
		p.closed()
		return inner
	}
	if _, ok := p.take("-"); ok {
		return exprNode{op: exprNeg, args: []exprNode{p.factor()}}
	}
	p.space()
	switch {
	case p.err != nil:
		return exprNode{}
	case p.at == len(p.text):
		return p.fail(p.at, "a number, a name or a parenthesis is missing")
	case isDigit(p.text[p.at]):
		return p.number()
	case isLetter(p.text[p.at]):
		return p.named()
	default:
		return p.fail(p.at, "%.20q is neither number, name nor parenthesis", p.text[p.at:])
	}
}

func (p *exprParser) closed() {
	if _, ok := p.take(")"); !ok {
		p.fail(p.at, "a closing parenthesis is missing")
	}
}

func (p *exprParser) number() exprNode {
	from := p.at
	for p.at < len(p.text) && (isDigit(p.text[p.at]) || p.text[p.at] == '.') {
		p.at++
	}
	if p.at+1 < len(p.text) && (p.text[p.at] == 'e' || p.text[p.at] == 'E') {
		next := p.at + 1
		if p.text[next] == '-' || p.text[next] == '+' {
			next++
		}
		for next < len(p.text) && isDigit(p.text[next]) {
			next++
			p.at = next
		}
	}
	v, err := strconv.ParseFloat(p.text[from:p.at], 64)
	if err != nil || p.at < len(p.text) && isLetter(p.text[p.at]) {
		return p.fail(from, "%.20q is no number", p.text[from:])
	}
	return exprNode{op: exprNumber, number: v}
}

// named reads the value of a metric, or a function of one.
func (p *exprParser) named() exprNode {
	from := p.at
	name := p.name()
	if _, ok := p.take("("); !ok {
		return exprNode{op: exprValue, name: name}
	}
	switch name {
	case "delta", "max", "mean", "last", "slope":
	default:
		return p.fail(from, "%s is no function (known: delta, max, mean, last, slope)", name)
	}
	p.space()
	if p.err == nil && (p.at == len(p.text) || !isLetter(p.text[p.at])) {
		return p.fail(p.at, "%s wants the name of a metric", name)
	}
	of := p.name()
	p.closed()
	return exprNode{op: name, name: of}
}

func (p *exprParser) name() string {
	from := p.at
	for p.at < len(p.text) && p.inName() {
		p.at++
	}
	if p.at < len(p.text) && p.text[p.at] == '{' { // of one kind of request
		for p.at < len(p.text) && p.text[p.at] != '}' {
			p.at++
		}
		if p.at == len(p.text) {
			p.fail(from, "%.20q: the brace is not closed", p.text[from:])
			return ""
		}
		p.at++
	}
	return p.text[from:p.at]
}

// inName reports whether the next character goes on with a name.
func (p *exprParser) inName() bool {
	switch c := p.text[p.at]; c {
	case '.', ':':
		return true
	case '-':
		return p.at > 0 && isLetter(p.text[p.at-1]) && p.at+1 < len(p.text) && isLetter(p.text[p.at+1])
	default:
		return isLetter(c) || isDigit(c)
	}
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
