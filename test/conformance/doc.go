// Package conformance has a property-based tester of APIs (Schemathesis) call every
// operation of the API document against the built binary.
package conformance
