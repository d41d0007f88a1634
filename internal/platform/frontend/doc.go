// Package frontend connects to a Temporal frontend: the bundled server's or another one that
// the environment names. It prepares the namespace there, and serves Temporal's web UI as an
// HTTP handler. It does not import the Temporal server.
package frontend
