// Package experiment owns the vocabulary of ceteris and the ports that the
// conductor drives. It holds plain data and pure functions, imports only the
// standard library, and knows no container engine, no database and no clock.
//
// Vocabulary, used alike in code, schema, views and reports:
//
//   - A matrix declares a subject (services in containers), a load, and
//     factors with levels.
//   - A cell is one setting of all factors: the baseline, its second copy the
//     control, or the baseline with one factor at another level (varied).
//   - A sweep executes a matrix in rounds. A round is one randomised complete
//     block: every cell once, in shuffled order.
//   - A run is one cell once, in a fresh environment. Exactly one run per cell
//     and round counts; an attempt is a try at it.
//   - An observation is one value of a metric of a run. A sample is those
//     values over the runs of a cell. Requests inside a run are never the
//     sample.
//   - A comparison sets a cell against the baseline and ends in a verdict.
//   - A guard inspects a run or a sweep and leaves findings.
//   - An invocation is one call of "ceteris run".
//
// Data flows one way: matrix file, Matrix, Cells, Schedule, Run, Outcome,
// Results, report.
package experiment
