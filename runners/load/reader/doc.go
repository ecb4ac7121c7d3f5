// Package reader reads what load generators of others write: one file a tool.
//
// Vocabulary:
//
//   - A tool is a load generator, a format one of the shapes in which it writes. A
//     reader knows all formats of its tool and tells them apart by their content.
//   - A row tells of one request; formats with rows have their requests counted here,
//     and give histograms and slices. A summary holds numbers that the tool reduced.
//
// Rules:
//
//   - What a format does not tell is unknown, with the reason, never 0: result.finish
//     lists every metric of a load that was not set.
//   - A tool that counts a response time from the real send gives service_time_*. It
//     gives latency_* as well only where that is the same: in a closed loop without
//     pacing, known as such; or where the tool itself counts from the intended start.
//   - A name means what it means for the built-in generator (successes in latency_* and
//     service_time_*, say). A number of the tool's that means something else has no
//     place among the metrics, or a note beside it that says what it is.
//   - Quantiles over mixed outcomes, successes and failures, are set with a note while
//     failures are at most 1% of the requests in them; above it they are unknown, with a
//     warning that holds the numbers. Where it cannot be told how many failed, they are
//     set with a warning.
//   - Whatever a tool hides (timeouts in no percentile, requests sent again, a summary
//     over the warm-up) is a note with the evidence; a warning where it can turn a
//     conclusion.
//   - Input is hostile: its sizes and the rows that are kept of it are bounded, nothing
//     panics, an error quotes little of it and names the line where there are lines.
//
// What is not done here: to start a tool, or to judge what it measured.
package reader
