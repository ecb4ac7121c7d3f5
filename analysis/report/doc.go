// Package report renders what people and programs read: the comparison table of
// a sweep, its plan, lists of sweeps, their status, and rows of a query.
//
// Every table has four formats. Text is for a terminal, md is a GitHub table
// with the same content: both round to 3 significant digits and put prefixes to
// units, only here. csv and json are for programs: base units (seconds, bytes,
// shares from 0 to 1, 1/s), full precision, missing values empty or null, and
// neither NaN nor infinity.
//
// The comparison of a sweep holds what else is concluded: how effects change between
// stages, conditions and beside other settings, what numeric factors answer, ladders,
// the rule of stopping, and what the host can show. Text and md have the primary metric
// of it, as far as there is room; json has everything. csv stays one row a cell and
// metric: the rest is in json, and in the views masking, interactions, responses and
// ladder of the database.
//
// Names that people chose (levels, services, messages) may hold anything. Control
// characters and terminal escapes are taken out of text, the signs of Markdown
// and HTML are escaped in md. csv keeps them as they are, also a leading =, +, -
// or @, which a spreadsheet may take for a formula: import such files as text.
//
// The same input gives the same bytes. Nothing is measured, compared or judged
// here.
package report
