package api

import (
	_ "embed"
	"errors"
	"sync"

	"slipway/api/admission"
	"slipway/internal/wire"
)

//go:embed openapi.yaml
var openapiYAML []byte

// documents are the API documents of the v2 API and of our own commands.
type documents struct{ v2, own *admission.Document }

// The documents are part of the program: a process reads them once, and nothing changes them
// afterwards. The open ones let requests leave credentials out.
var (
	closedDocuments = sync.OnceValues(func() (documents, error) {
		v2, err := admission.ReadDocument(openapiYAML, wire.BasePath)
		own, oerr := admission.ReadDocument(ownYAML, OwnPath)
		return documents{v2, own}, errors.Join(err, oerr)
	})
	openDocuments = sync.OnceValues(func() (documents, error) {
		closed, err := closedDocuments()
		if err != nil {
			return documents{}, err
		}
		v2, err := closed.v2.Open()
		own, oerr := closed.own.Open()
		return documents{v2, own}, errors.Join(err, oerr)
	})
)
