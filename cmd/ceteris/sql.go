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
	var views, functions bool
	cmd := &cobra.Command{
		Use:   "sql QUERY",
		Short: "Ask the database in SQL; it cannot be written to this way",
		Long: `Ask the database in SQL; it cannot be written to this way.

Besides the functions of SQLite there are statistics, with the numbers of the tables;
--functions lists them. ratio_low and ratio_high take a row for each round, with the
value of the cell and that of the baseline, as run_metrics joined with itself gives:

  select c.label, geomean(c.value / b.value) as ratio,
         ratio_low(c.value, b.value, c.round) as low, ratio_high(c.value, b.value, c.round) as high
  from run_metrics c join run_metrics b using (sweep, stage, condition, metric, round, state)
  where sweep = 1 and metric = 'throughput' and state = 'ok'
    and b.role = 'baseline' and c.role <> 'baseline'
  group by c.label`,
		Example: `  ceteris sql "select factor, level, n, estimate, low, high from confidence_intervals where metric = 'throughput'"
  ceteris sql "select label, median(value), ci_low(value, 0.99), ci_high(value, 0.99) from run_metrics where sweep = 1 and metric = 'throughput' and state = 'ok' group by label"
  ceteris sql --views`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case views && functions:
				return errors.New("--views and --functions are two calls")
			case (views || functions) && len(args) > 0:
				return errors.New("--views and --functions take no query")
			case views || functions:
				return nil
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case views:
				return a.views(cmd.Context(), report.Format(format))
			case functions:
				return a.functions(report.Format(format))
			}
			return a.sql(cmd.Context(), report.Format(format), args[0])
		},
	}
	cmd.Flags().BoolVar(&views, "views", false, "list the views that are made for people")
	cmd.Flags().BoolVar(&functions, "functions", false, "list the statistics that statements may call")
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
	r, err := a.openReader(ctx, sqlFuncs()...)
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
