// Package model holds the nouns Slipway works on: clusters, hosts, discovery
// environments, pending activities and events. It imports nothing of ours but the wire
// formats and does no I/O; times, networks and statuses have real types here,
// while JSON in strings and other habits of the API exist only in package api.
package model
