// Package db keeps everything in one SQLite file that answers plain SQL.
//
// Vocabulary is that of package experiment; tables and views are described in
// DESIGN.md. A DB is the one writer of a file: whoever opens it holds the file's
// Lock. A Reader sees a consistent state at any time, also while a sweep is
// being written, and cannot change anything.
//
// Not done here: statistics (intervals and comparisons arrive finished),
// histograms (stored as they come, never decoded), and decisions about what is
// run again.
package db
