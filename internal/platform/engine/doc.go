// Package engine runs the Temporal server inside this process, on a PostgreSQL database that
// it migrates and locks.
//
// The Temporal server has no stable Go API and takes minutes to compile, so only this
// package imports it, and only internal/app imports this package.
package engine
