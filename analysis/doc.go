// Package analysis turns the runs of a sweep into intervals, comparisons and
// verdicts. It is pure: no files, no clock, and chance only from seeds.
//
// The unit is one run in a fresh environment, reduced to one number a metric.
// Requests and time slices inside a run are never the sample.
//
// Vocabulary:
//
//   - A Sample holds those numbers for one cell, by round.
//   - A family is all cells of one stage under one condition against that
//     condition's baseline, for one metric. Its intervals hold together
//     (simultaneously). The control stands outside.
//   - A ladder is a cell under every level of the condition that sets its rate. Its
//     ceiling in a round is what is achieved, mean over the rungs that are not
//     sustained; ladders form families of their own.
//   - A response is how a metric goes with the levels of a numeric factor, or that of
//     the baseline with the levels of a numeric condition.
//   - An objective is a limit; a cell meets it by its whole interval.
//   - A rule ends a sweep's rounds by what they show: until the intervals are narrow
//     enough (precise), or no verdict is inconclusive (decided). All intervals are then
//     made at a stricter confidence than is reported, which pays for the looking.
//   - A comparison is made on logs, as a ratio, for positive metrics; on
//     differences for rates that may be zero.
//   - The band is the range of effects too small to matter: from 1/(1+delta) to
//     1+delta, delta being the minimum effect.
//
// Below 10 rounds the method is pooled+own: the wider of Dunnett's interval with
// the residual variance of the additive fit log y = round + cell, and the cell's
// own paired t interval. From 10 rounds on it is own: paired t with Bonferroni
// intervals and Holm p-values. Values without rounds are compared by Welch's t.
//
// What is not done here: no run is ever dropped for its value, no bootstrap
// decides anything, nothing is drawn or printed, and whether a run counts was
// settled before (its state).
package analysis
