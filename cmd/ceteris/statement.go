package main

import "strings"

// statements parts a text of SQL into its first statement and what stands behind it,
// which is empty if there are but comments and semicolons. A semicolon in a string, a
// quoted name or a comment ends no statement.
func statements(text string) (first, rest string) {
	begin, end := -1, -1
	for i := 0; i < len(text); {
		n := tokenLength(text[i:])
		switch token := text[i : i+n]; {
		case token == ";" && begin >= 0 && end < 0:
			end = i
		case token == ";", strings.TrimSpace(token) == "", strings.HasPrefix(token, "--"), strings.HasPrefix(token, "/*"):
		case end >= 0:
			return text[begin:end], strings.TrimSpace(text[i:])
		case begin < 0:
			begin = i
		}
		i += n
	}
	switch {
	case begin < 0:
		return "", ""
	case end < 0:
		end = len(text)
	}
	return text[begin:end], ""
}

// tokenLength gives the length of the string, quoted name or comment at the front of
// a text, to the text's end if it is not closed; 1 for anything else.
func tokenLength(text string) int {
	for _, t := range []struct{ open, end string }{
		{"'", "'"}, {`"`, `"`}, {"`", "`"}, {"[", "]"}, {"--", "\n"}, {"/*", "*/"},
	} {
		rest, ok := strings.CutPrefix(text, t.open)
		if !ok {
			continue
		}
		if n := strings.Index(rest, t.end); n >= 0 {
			return len(t.open) + n + len(t.end)
		}
		return len(text)
	}
	return 1
}
