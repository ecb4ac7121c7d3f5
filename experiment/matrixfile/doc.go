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
// Levels that put something else in place (set) are read by what they make: for each
// combination of them that occurs in a cell, subject and load with the overlays put over
// what is declared are read by the same reader, and their faults stand where the overlay
// does.
//
// Beside the matrix the package opens only what its load names: bodies ("@file") and
// data. It resolves no reference.
package matrixfile
