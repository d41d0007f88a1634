// Package operators holds the operators that clusters are installed with: a catalogue of operators and their requirements, and the
// bundles they come in. Facts come from docs/reference/operator-rules.md and recorded replies. Features is the table of all
// features of OpenShift, operators included.
package operators
