// Package model holds the nouns of Slipway: clusters, hosts, InfraEnvs, pending activities and events. It
// imports nothing of this module but the wire formats and does no I/O. Times, networks and statuses have real
// types here; JSON in strings and other habits of the API exist only in package api.
package model
