package experiment

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// notIdentity are the fields that may change within a sweep. Positions are not
// part of it either; they are left out by type.
var notIdentity = []string{"Name", "Question", "Judge.", "Repeat.Rounds", "Repeat.Stopping.", "Origin.", "OnFinish"}

// TestHashCoversEveryField changes every field of a matrix, one at a time, found by
// reflection so that none can be forgotten.
func TestHashCoversEveryField(t *testing.T) {
	want := whole(t).Hash()
	seen := map[string]string{}
	for i := 0; ; i++ {
		m := whole(t)
		m.Load.Open = &OpenSpec{Rate: Literal("1/s"), InFlight: Literal("2")}
		if i == 0 {
			want = m.Hash()
		}
		n := i
		path, done := changeNth(reflect.ValueOf(m).Elem(), "", &n)
		if !done {
			if i < 90 {
				t.Errorf("only %d fields were found", i)
			}
			break
		}
		got, free := m.Hash(), false
		for _, prefix := range notIdentity {
			free = free || strings.HasPrefix(path+".", prefix+".") || strings.HasSuffix(prefix, ".") && strings.HasPrefix(path, prefix)
		}
		free = free || strings.HasSuffix(path, ".At")
		if (got == want) != free {
			t.Errorf("a change of %s: same hash is %v, want %v", path, got == want, free)
		}
		if other, twice := seen[got]; twice && !free {
			t.Errorf("%s and %s give the same hash", path, other)
		}
		seen[got] = path
	}
}

// changeNth changes the nth leaf below v, depth first, and gives its path.
func changeNth(v reflect.Value, path string, n *int) (string, bool) {
	leaf := func(change func()) (string, bool) {
		if *n--; *n >= 0 {
			return "", false
		}
		change()
		return path, true
	}
	switch v.Interface().(type) {
	case Template:
		return leaf(func() { v.Set(reflect.ValueOf(Literal("changed"))) })
	case Pos:
		return leaf(func() { v.Set(reflect.ValueOf(Pos{File: "x", Line: 99, Column: 9})) })
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			name := strings.TrimPrefix(path+"."+v.Type().Field(i).Name, ".")
			if p, done := changeNth(v.Field(i), name, n); done {
				return p, true
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			if p, done := changeNth(v.Elem(), path, n); done {
				return p, true
			}
			return leaf(func() { v.SetZero() })
		}
	case reflect.Slice:
		for i := range v.Len() {
			if p, done := changeNth(v.Index(i), fmt.Sprintf("%s[%d]", path, i), n); done {
				return p, true
			}
		}
		return leaf(func() { v.Set(reflect.Append(v, reflect.New(v.Type().Elem()).Elem())) })
	case reflect.Map:
		return leaf(func() { v.SetMapIndex(reflect.ValueOf("new"), reflect.New(v.Type().Elem()).Elem()) })
	case reflect.String:
		return leaf(func() { v.SetString(v.String() + "x") })
	case reflect.Bool:
		return leaf(func() { v.SetBool(!v.Bool()) })
	case reflect.Int, reflect.Int64:
		return leaf(func() { v.SetInt(v.Int() + 1) })
	case reflect.Uint64:
		return leaf(func() { v.SetUint(v.Uint() + 1) })
	case reflect.Float64:
		return leaf(func() { v.SetFloat(v.Float() + 0.125) })
	default:
		panic("a field of kind " + v.Kind().String() + ": " + path)
	}
	return "", false
}

// TestHashOfRunners: what only the other runner reads is no part of the identity.
func TestHashOfRunners(t *testing.T) {
	a, b := whole(t), whole(t)
	b.Subject.Services[0].Process.Build.Go = "elsewhere"
	if a.ForRunner(RunnerDocker).Hash() != b.ForRunner(RunnerDocker).Hash() {
		t.Error("the process form is part of a docker sweep")
	}
	if a.ForRunner(RunnerProcess).Hash() == b.ForRunner(RunnerProcess).Hash() {
		t.Error("the process form is no part of a process sweep")
	}
	if a.ForRunner(RunnerDocker).Hash() == a.ForRunner(RunnerProcess).Hash() {
		t.Error("the runner is no part of the identity")
	}
	for i, s := range a.Subject.Services { // with a process form, and without
		c := whole(t)
		c.Subject.Services[i].Container.User = Literal("nobody")
		if a.ForRunner(RunnerProcess).Hash() != c.ForRunner(RunnerProcess).Hash() {
			t.Errorf("service %s: what only containers have is part of a process sweep", s.Name)
		}
		if a.ForRunner(RunnerDocker).Hash() == c.ForRunner(RunnerDocker).Hash() {
			t.Errorf("service %s: the user is no part of a docker sweep", s.Name)
		}
	}
}
