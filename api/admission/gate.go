// Package admission stands before the handlers of an API: it finds the caller of a request, decides whether the caller may do the
// operation to the object, holds parameters and bodies against the API document, and bounds how much callers ask at once. Rules.go has
// one row an operation.
package admission

import (
	"log/slog"
	"net/http"
	"time"

	"slipway/internal/platform/audit"
)

// Options configure a Gate.
type Options struct {
	// Documents describe the operations; the first that has one counts.
	Documents []*Document
	Identity  Identity
	Store     Store
	// Authorize decides whether a caller may do an operation; nil: a caller that is bound to one object may use that
	// object, and any other caller may do everything.
	Authorize Authorize
	// CheckSignature checks the signature of an address, which opens one file, and returns when it ends.
	CheckSignature func(*http.Request) (time.Time, error)
	// Audit records commands and reads of secrets.
	Audit *audit.Trail

	// Limits bound what callers ask for.
	Limits Limits

	Log *slog.Logger
	Now func() time.Time
	// Observe receives every answer to an operation: its id, the status code, how long it took, and whether the client
	// asked to wait; nil: none.
	Observe func(operation, code string, took time.Duration, held bool)
}

// Gate admits requests. It is safe for concurrent use.
type Gate struct {
	o        Options
	bodies   *places // large ones
	rates    *rates  // requests of each credential
	refusals *refusals
	heavy    *heavyReads
}

// New returns a Gate.
func New(o Options) *Gate {
	g := &Gate{
		o: o, bodies: newPlaces(o.Limits), rates: newRates(o.Limits, o.Now), refusals: newRefusals(o.Now), heavy: newHeavyReads(o.Limits),
	}
	if g.o.Authorize == nil {
		g.o.Authorize = g.checkScope
	}
	return g
}
