// Package guard looks for reasons to distrust a run or a sweep.
//
// A guard is a value: a code that never changes its meaning, a severity, a
// threshold where it has one, a paragraph of help, and pure functions over the
// Outcome of a run or over a Sweep with its Results. What it finds is a Finding
// with its evidence in one sentence. A note informs, a warning asks for care,
// and invalid excludes the run by rule: the conductor sets its state to invalid
// with the guard's code as the reason.
//
// A guard speaks only from what was observed. A quantity that nobody measured
// gives no finding, except where its absence is itself the fault: a generator
// whose processor time is unknown, a run without a result.
//
// A run that failed by its subject or by the infrastructure is out already, and
// how it failed is its result. What would be invalid is a warning there, so that
// no finding replaces the reason of the failure.
//
// Guards do not measure, compare, retry or delete.
package guard
