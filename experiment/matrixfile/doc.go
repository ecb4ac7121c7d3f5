// Package matrixfile reads a matrix file into an experiment.Matrix.
//
// It reads YAML strictly and from nodes: order, case, the text of scalars (1.10
// stays 1.10, 0x10 stays 0x10) and positions survive. Every fault of a file is
// told at once, each as an *experiment.FieldError with its position, the dotted
// path of the field and, where there is advice, a hint.
//
// Three kinds of fields are not read: unknown ones, those that the language names
// but this version lacks (the fault wraps experiment.ErrNotYet), and those that
// are refused for good, with the reason.
//
// The package opens no other file than the matrix, and resolves no reference.
package matrixfile
