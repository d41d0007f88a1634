// Package operators holds the operators that clusters are installed with: a catalogue of operators and their requirements, and the
// bundles they come in. Facts come from docs/reference/operator-rules.md and recorded replies; which versions, architectures and
// platforms an operator runs on, and what it excludes, is in the table of package openshift.
package operators
