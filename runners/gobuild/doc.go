// Package gobuild turns the programs that a matrix names into static
// executables, for both runners: it compiles Go packages, finds ceteris' own
// tools, and wraps an executable into a FROM scratch image.
//
// Vocabulary: a build (experiment.Build) is either a directory of a package main
// or an executable that exists; a tool is one of ceteris' own programs (loadgen,
// linkproxy), which are found, not configured.
//
// It starts nothing but the go command, speaks to no container engine, and does
// not decide what runs where.
package gobuild
