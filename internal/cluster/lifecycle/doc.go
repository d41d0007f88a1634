// Package lifecycle holds the states of hosts and clusters: the transition tables of
// the contract in evaluation order, roles and bootstrap election, progress, time-outs.
// Everything is pure; the caller loads facts, writes the outcome back and carries out
// what a transition's Effect names.
//
// In a table the first row whose event, source state and condition fit wins; when none
// does the event is refused with a model.ErrConflict.
package lifecycle
