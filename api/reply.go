package api

import (
	"net/http"

	"slipway/internal/platform/httpapi"
)

// The replies of an operation that did, or did not do, what was requested; the codes are those of the v2 API
// (docs/reference/wire.md, "Success codes"). A nil body is no body.

func ok(w http.ResponseWriter, r *http.Request, body any, err error) {
	answer(w, r, http.StatusOK, body, err)
}

func created(w http.ResponseWriter, r *http.Request, body any, err error) {
	answer(w, r, http.StatusCreated, body, err)
}

func accepted(w http.ResponseWriter, r *http.Request, body any, err error) {
	answer(w, r, http.StatusAccepted, body, err)
}

func noContent(w http.ResponseWriter, r *http.Request, err error) {
	answer(w, r, http.StatusNoContent, nil, err)
}

// okText answers with bytes of a content type.
func okText(w http.ResponseWriter, contentType string, body []byte) {
	httpapi.Bytes(w, http.StatusOK, contentType, body)
}

func answer(w http.ResponseWriter, r *http.Request, status int, body any, err error) {
	switch {
	case err != nil:
		httpapi.Fail(w, r, err)
	case body == nil:
		w.WriteHeader(status)
	default:
		httpapi.JSON(w, status, body)
	}
}
