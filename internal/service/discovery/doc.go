// Package discovery handles hosts outside of workflows:
// registration, polls, replies and stage reports, the evaluation of clusters after a
// change, and silence.
//
// A poll, a registration and a reply cost the same whatever the size of the cluster:
// each touches the rows of one host and leaves a mark on its cluster. Run evaluates
// marked clusters, once for many marks, and not more often than their size allows.
package discovery
