package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ceteris/ceteris/analysis/report"
	"github.com/ceteris/ceteris/db"
)

func newSQLCommand(a *app) *cobra.Command {
	var format string
	var views bool
	cmd := &cobra.Command{
		Use:   "sql QUERY",
		Short: "Ask the database in SQL; it cannot be written to this way",
		Example: `  ceteris sql "select factor, level, n, estimate, low, high from confidence_intervals where metric = 'throughput'"
  ceteris sql --views`,
		Args: func(cmd *cobra.Command, args []string) error {
			if views && len(args) > 0 {
				return errors.New("--views takes no query")
			}
			if views {
				return nil
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if views {
				return a.views(cmd.Context(), report.Format(format))
			}
			return a.sql(cmd.Context(), report.Format(format), args[0])
		},
	}
	cmd.Flags().BoolVar(&views, "views", false, "list the views that are made for people")
	formatFlag(cmd, &format, report.Formats()...)
	return cmd
}

func (a *app) sql(ctx context.Context, format report.Format, query string) error {
	first, rest := statements(query)
	switch {
	case first == "":
		return &usageError{errors.New("the query is empty")}
	case rest != "":
		return &usageError{fmt.Errorf("the query has a second statement, and one only is answered: %s", cut(rest, 60))}
	}
	r, err := a.openReader(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	cols, rows, err := r.Query(ctx, first)
	if err != nil {
		return &usageError{fmt.Errorf("query: %w", err)}
	}
	return report.Rows(a.out, cols, rows, format)
}

func (a *app) views(ctx context.Context, format report.Format) error {
	r, err := a.openReader(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	views, err := r.Views(ctx)
	if err != nil {
		return err
	}
	return report.Rows(a.out, []string{"view", "holds", "columns"}, viewRows(views), format)
}

func viewRows(views []db.View) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		for _, v := range views {
			if !yield([]any{v.Name, v.Comment, strings.Join(v.Columns, ", ")}, nil) {
				return
			}
		}
	}
}
