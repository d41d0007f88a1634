// Package cli holds the commands with which users speak to a running service: kong
// command structs whose Run methods print tables for people or, with --output json, the
// answers of the API.
//
// Exit codes: 0 done; 1 the service refused or the installation failed; 2 the
// command line is wrong; 3 no such object; 4 the state does not allow it; 5 the
// service does not answer; 6 time is over.
package cli
