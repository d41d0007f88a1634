package api

import (
	"cmp"
	"slices"
	"strings"

	"slipway/internal/platform/auth"
)

// Operation is one of an API document, for documentation.
type Operation struct {
	Method, Path string
	ID           string
	// Own says that the operation is not of the contract.
	Own bool
	// Schemes are the credentials that the document says it takes.
	Schemes []auth.Scheme
}

// Operations lists the operations of the contract's document and of our own, by path.
func Operations() ([]Operation, error) {
	var out []Operation
	for _, from := range []struct {
		text []byte
		base string
	}{{openapiYAML, BasePath}, {ownYAML, OwnPath}} {
		d, err := readDocument(from.text, from.base)
		if err != nil {
			return nil, err
		}
		for address, o := range d.operations {
			method, path, _ := strings.Cut(address, " ")
			out = append(out, Operation{method, path, o.id, from.base == OwnPath, o.schemes})
		}
	}
	slices.SortFunc(out, func(a, b Operation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
	})
	return out, nil
}
