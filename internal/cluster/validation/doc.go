// Package validation holds the rules a host and a cluster must meet before a disk is
// touched, and what those rules are computed from: disk eligibility, connectivity
// groups, host networks. Rules are pure: facts in, result out, no clock and no I/O.
//
// A refresh of a cluster builds Peers once and then evaluates every host against it,
// so that a rule never walks over all other hosts.
package validation
