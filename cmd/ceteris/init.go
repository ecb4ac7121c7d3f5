package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ceteris/ceteris/experiment"
	"github.com/ceteris/ceteris/experiment/matrixfile/compose"
)

type initOptions struct{ output string }

func newInitCommand(a *app) *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init COMPOSE_FILE",
		Short: "Print a matrix made from a compose file",
		Long: `Print a matrix with the services of a compose file, to add factors to. What it leaves
out is listed at its head and on standard error. Variables are not looked up: their
default is taken, and one without becomes ${env:NAME}.`,
		Example: "  ceteris init docker-compose.yml -o matrix.yaml",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.init(cmd.Context(), o, args[0]) },
	}
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "write to this file, which must not exist, in the compose file's directory")
	return cmd
}

func (a *app) init(ctx context.Context, o initOptions, file string) error {
	m, err := compose.Convert(ctx, file)
	if err != nil {
		return &experiment.FieldError{At: experiment.Pos{File: file}, Err: err}
	}
	for _, d := range m.Dropped {
		fmt.Fprintln(a.err, "left out:", d)
	}
	if o.output == "" {
		_, err := fmt.Fprint(a.out, m.Text)
		return err
	}
	if same, err := sameDir(o.output, file); err != nil || !same {
		fmt.Fprintln(a.err, "relative paths of the matrix start at its own directory: mend them where they differ")
	}
	f, err := os.OpenFile(o.output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return &usageError{err}
	}
	if _, err := f.WriteString(m.Text); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func sameDir(a, b string) (bool, error) {
	x, err := filepath.Abs(filepath.Dir(a))
	if err != nil {
		return false, err
	}
	y, err := filepath.Abs(filepath.Dir(b))
	return x == y, err
}
