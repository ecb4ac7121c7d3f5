package experiment_test

import (
	"testing"

	"github.com/ceteris/ceteris/experiment"
)

func TestMask(t *testing.T) {
	m := experiment.NewMask([]string{"hunter2", "hunter2-and-more", "abc", "", "first line\nand the second\nno\n", `a"b\c`, "a<b>&c", `"quoted"`, "Zhunter2", "unter2-and-more"})
	for _, c := range []struct{ name, text, want string }{
		{"nothing secret", "abc and no more", "abc and no more"},
		{"alone", "hunter2", "***"},
		{"in a sentence", "dial u:hunter2@host: refused (hunter2)", "dial u:***@host: refused (***)"},
		{"the longer one first", "hunter2-and-more", "***"},
		{"several lines", "first line\nand the second\nno\n", "***"},
		{"one of several lines", "begins with first line.", "begins with ***."},
		{"several lines in JSON", `{"key":"first line\nand the second\nno\n"}`, `{"key":"***"}`},
		{"with quotes", `as it is: a"b\c, in JSON: "a\"b\\c"`, `as it is: ***, in JSON: "***"`},
		{"quotes at its ends", `in JSON: "\"quoted\""`, `in JSON: "***"`},
		{"in the JSON of Go", `"a\u003cb\u003e\u0026c"`, `"***"`},
		{"in that of others", `"a<b>&c"`, `"***"`},
		{"cut off", "run curl -H hunter2-an...", "run curl -H ***..."},
		{"cut off in the middle of a text", "run curl -H hunt... ended with 7", "run curl -H ***... ended with 7"},
		{"cut off by one sign", "says hunter2-and…", "says ***…"},
		{"the longest that it may be", "says Zhunter2...", "says ***..."},
		{"what comes after the dots", "its last output: ...er2 is refused", "its last output: ...er2 is refused"},
		{"its end after the dots", "its last output: ...nter2 is refused", "its last output: ...*** is refused"},
		{"on both sides of a cut", "the hunter2-a\n[...]\nd-more is refused", "the ***\n[...]\n*** is refused"},
		{"all of it on both sides of a cut", "hunter2\n[...]\nhunter2", "***\n[...]\n***"},
		{"one of several lines at a cut", "and the sec\n[...]\nrst line", "***\n[...]\n***"},
		{"too little of it to be cut off", "hun...", "hun..."},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := m.Text(c.text); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if got := (experiment.Mask{}).Text("hunter2"); got != "hunter2" {
		t.Errorf("the zero value: got %q", got)
	}
}
