// Package commands holds the commands that play one part of a simulated cluster
// each, as a process of its own: tests kill such processes at any moment and start them
// again with the same arguments.
package commands
