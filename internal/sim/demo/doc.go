// Package demo shows a whole installation: the real service as a child process with its
// real Temporal server and PostgreSQL, a registry with a synthetic release, and
// simulated machines that run the real agent, installer and controller. It uses the
// service through its API alone, as any user does.
package demo
