package experiment

import "strings"

// Suggest gives the known name that a misspelt one most likely means, or the
// empty string. Near is an optimal string alignment distance (insertions,
// deletions, replacements, swaps of neighbours) of at most a third of the name's
// length, and at least 1; a known name that begins with the given one counts too.
func Suggest(name string, known []string) string {
	best, least := "", max(1, len(name)/3)+1
	for _, k := range known {
		d := distance(strings.ToLower(name), strings.ToLower(k))
		if d < least && d < len(k) {
			best, least = k, d
		}
	}
	if best != "" {
		return best
	}
	for _, k := range known {
		if len(k) >= 3 && len(name) >= 3 && (strings.HasPrefix(k, name) || strings.HasPrefix(name, k)) {
			return k
		}
	}
	return ""
}

// didYouMean is Suggest as the text of a hint.
func didYouMean(name string, known []string) string {
	if s := Suggest(name, known); s != "" {
		return "did you mean " + s + "?"
	}
	return ""
}

func distance(a, b string) int {
	const longest = 64 // names are short; longer ones are not misspellings
	if len(a) > longest || len(b) > longest {
		return longest
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
