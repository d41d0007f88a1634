// Package deploy tests the ways in which Slipway is put on a server, in a Debian system of its own with systemd as its first
// process. `make test-deploy` prepares what it needs.
package deploy
