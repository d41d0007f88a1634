package api

import (
	"cmp"
	"slices"

	"slipway/api/admission"
)

// Operation is an operation of the API documents, for documentation.
type Operation struct {
	admission.Operation
	// Own says that the operation is not of the contract.
	Own bool
}

// Operations lists the operations of the contract's document and of our own, by path.
func Operations() ([]Operation, error) {
	docs, err := closedDocuments()
	if err != nil {
		return nil, err
	}
	var out []Operation
	for _, d := range []*admission.Document{docs.v2, docs.own} {
		for _, o := range d.Operations() {
			out = append(out, Operation{o, d == docs.own})
		}
	}
	slices.SortFunc(out, func(a, b Operation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
	})
	return out, nil
}
