// Package duesteps knows what is due on a host: a table from its state to the steps asked
// of it, and how the arguments of each step are made (docs/reference/step-rules.md,
// "Arguments and replies").
//
// A poll evaluates Due on a handful of columns; only when a step is due the caller
// loads the cluster and makes its arguments. A fact is asked again when what it was
// asked about has changed, or when its answer is too old, never just because a poll came.
//
// Disk speed, image availability and everything from install on are asked by the
// workflow of an installation and are not in the table.
package duesteps
