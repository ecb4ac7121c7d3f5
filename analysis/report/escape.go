package report

import (
	"regexp"
	"strings"
	"unicode"
)

// Terminal escapes: control sequences, commands to the terminal up to their end
// or the end of the text, and two-byte escapes.
var escapes = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?`)

// Plain makes text safe for one line of a terminal: escapes, control characters
// and marks that turn the direction of writing go, line ends and tabs become
// spaces.
func Plain(s string) string {
	s = escapes.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), "")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r) || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069':
			return -1
		default:
			return r
		}
	}, s)
}

// markdownSigns pairs what has a meaning in Markdown or HTML with its escaped form.
func markdownSigns() *strings.Replacer {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `\`, `\\`, "`", "\\`", "*", `\*`, "~", `\~`,
		"](", `]\(`, "][", `]\[`, "$", `\$`)
}

// Underscores stress only at the edge of a word; inside of one they stay as they
// are, since many settings have them.
var edgeUnderscores = regexp.MustCompile(`\b_+|_+\b`)

// markdown makes text safe for one line of Markdown outside a table; a table
// escapes the bar too.
func markdown(s string) string {
	s = markdownSigns().Replace(strings.TrimSpace(Plain(s)))
	return edgeUnderscores.ReplaceAllStringFunc(s, func(u string) string { return strings.Repeat(`\_`, len(u)) })
}

// maxLabel is the most characters of a name in a table for people.
const maxLabel = 44

// short cuts text to at most maxLabel characters.
func short(s string) string {
	r := []rune(s)
	if len(r) <= maxLabel {
		return s
	}
	return string(r[:maxLabel-1]) + "…"
}
