package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// newCompletionCommand replaces cobra's own, which takes a shell that it does not
// know for a wish to read the help.
func newCompletionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:       "completion SHELL",
		Short:     "Print the completion script for bash, zsh, fish or powershell",
		Long:      "Print the completion script for a shell: bash, zsh, fish or powershell.",
		Example:   "  source <(ceteris completion bash)",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		// It needs no configuration, and works beside a broken one.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.out, true)
			case "zsh":
				return root.GenZshCompletion(a.out)
			case "fish":
				return root.GenFishCompletion(a.out, true)
			default:
				return root.GenPowerShellCompletionWithDesc(a.out)
			}
		},
	}
}

// newHelpCommand replaces cobra's own, which answers an unknown topic with success.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "help [COMMAND]",
		Short:             "Explain a command",
		Example:           "  ceteris help run",
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := cmd.Root().Find(args)
			if err == nil && len(rest) > 0 {
				err = fmt.Errorf("unknown command %q", rest[0])
			}
			if err != nil {
				return &usageError{err}
			}
			return topic.Help()
		},
	}
}

// completeSweeps offers the sweeps of the database for the argument SWEEP, and for the
// second one of compare: the names of matrices, each with its newest sweep, and latest.
// What cannot be read offers nothing.
func (a *app) completeSweeps(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const none = cobra.ShellCompDirectiveNoFileComp
	if len(args) > 0 && (cmd.Name() != "compare" || len(args) > 1) {
		return nil, none
	}
	cfg, err := loadConfig(".", os.Getenv, cmd.Flag("db").Value.String())
	if err != nil {
		return nil, none
	}
	a.config = cfg
	r, err := a.openReader(cmd.Context())
	if err != nil {
		return nil, none
	}
	defer r.Close()
	all, err := r.Sweeps(cmd.Context())
	if err != nil || len(all) == 0 {
		return nil, none
	}
	offered := []cobra.Completion{cobra.CompletionWithDesc("latest", "the newest of all")}
	seen := map[string]bool{}
	for _, s := range all { // the newest first
		if !seen[s.Name] {
			seen[s.Name] = true
			offered = append(offered, cobra.CompletionWithDesc(s.Name, fmt.Sprintf("sweep %d, %s", s.ID, sweepState(s))))
		}
	}
	return offered, none | cobra.ShellCompDirectiveKeepOrder
}
