package api

import (
	"net/http"

	"slipway/internal/platform/httpapi"
)

// The answers of an operation that did what was requested; the codes follow the v2 API (docs/reference/wire.md, "Success codes"). A nil
// body sends none. Each returns nil, so that a handler can return it; an error that a handler returns instead is answered by
// httpapi.Handler.

// reply writes an answer.
type reply func(w http.ResponseWriter, body any) error

func ok(w http.ResponseWriter, body any) error       { return respond(w, http.StatusOK, body) }
func created(w http.ResponseWriter, body any) error  { return respond(w, http.StatusCreated, body) }
func accepted(w http.ResponseWriter, body any) error { return respond(w, http.StatusAccepted, body) }

func noContent(w http.ResponseWriter) error { return respond(w, http.StatusNoContent, nil) }

// okText answers with bytes of a content type.
func okText(w http.ResponseWriter, contentType string, body []byte) error {
	httpapi.Bytes(w, http.StatusOK, contentType, body)
	return nil
}

func respond(w http.ResponseWriter, status int, body any) error {
	if body == nil {
		w.WriteHeader(status)
		return nil
	}
	httpapi.JSON(w, status, body)
	return nil
}
