package main

import (
	"iter"
	"slices"
	"strings"

	"github.com/ceteris/ceteris/analysis"
	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/db"
)

// sqlFuncs gives the statistics of the analysis to the statements of ceteris sql.
func sqlFuncs() []db.SQLFunc {
	var out []db.SQLFunc
	for _, f := range analysis.SQLFuncs() {
		out = append(out, db.SQLFunc{Name: f.Name, Args: len(f.Args), New: func() db.Aggregate { return f.New() }})
	}
	return out
}

// functions prints what statements may call besides what SQLite has.
func (a *app) functions(format report.Format) error {
	return report.Rows(a.out, []string{"function", "gives"}, functionRows(analysis.SQLFuncs()), format)
}

// functionRows gives each function once: an argument that may be left out stands in
// brackets.
func functionRows(all []analysis.SQLFunc) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		for i, f := range all {
			if i+1 < len(all) && all[i+1].Name == f.Name {
				continue
			}
			args := slices.Clone(f.Args)
			if last := len(args) - 1; i > 0 && all[i-1].Name == f.Name {
				args[last-1] += "[, " + args[last] + "]"
				args = args[:last]
			}
			if !yield([]any{f.Name + "(" + strings.Join(args, ", ") + ")", f.Help}, nil) {
				return
			}
		}
	}
}
