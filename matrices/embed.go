// Package matrices holds the sweeps that are shipped with ceteris.
package matrices

import "embed"

// FS holds the shipped matrix files, each at the top level under its file name.
//
//go:embed *.yaml
var FS embed.FS
