// Package discovery serves agents: registrations, polls and replies, outside of workflows and beside them.
//
// Each request costs the same whatever the size of the cluster: it touches the rows of one host and leaves a mark on its
// cluster, which package evaluation takes up.
package discovery
