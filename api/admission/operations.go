package admission

import (
	"strings"

	"slipway/internal/platform/auth"
)

// Operation is an operation of an API document, for documentation.
type Operation struct {
	Method, Path string
	ID           string
	// Schemes are the credentials that the document says it takes.
	Schemes []auth.Scheme
}

// Operations lists the operations of the document, in no order.
func (d *Document) Operations() []Operation {
	out := make([]Operation, 0, len(d.operations))
	for address, o := range d.operations {
		method, path, _ := strings.Cut(address, " ")
		out = append(out, Operation{method, path, o.id, o.schemes})
	}
	return out
}
