package httpapi

import (
	"context"
	"net/http"
	"regexp"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
)

// HeaderRequestID carries the id of a request, from the client or made by Begin, into the log and the answer.
const HeaderRequestID = "X-Request-Id"

var requestIDText = regexp.MustCompile(`^[0-9A-Za-z._:-]{1,64}$`)

// Request holds the facts about a request while it is answered.
type Request struct {
	ID  string
	Err error // why it failed; set by Fail
	// Operation is its operationId in the API document; empty for an unknown address.
	Operation string
}

type requestKey struct{}

// About returns what is known about a request; never nil.
func About(r *http.Request) *Request {
	known, _ := r.Context().Value(requestKey{}).(*Request)
	if known == nil {
		return &Request{}
	}
	return known
}

// UUID returns the id of a request when it is a UUID, for the events that the request causes.
func (q *Request) UUID() *uuid.UUID {
	id, err := uuid.Parse(q.ID)
	if err != nil {
		return nil
	}
	return &id
}

// Begin gives a request an id, in its context and in the answer. It returns the request that handlers must use.
func Begin(w http.ResponseWriter, r *http.Request) *http.Request {
	known := &Request{ID: r.Header.Get(HeaderRequestID)}
	if !requestIDText.MatchString(known.ID) {
		known.ID = uuid.NewString()
	}
	w.Header().Set(HeaderRequestID, known.ID)
	ctx := context.WithValue(r.Context(), requestKey{}, known)
	// An outer router has stored the path in the context as it was before it was cleaned.
	return r.WithContext(context.WithValue(ctx, chi.RouteCtxKey, nil))
}

// EventStream is the media type of server-sent events (HTML, section 9.2).
const EventStream = "text/event-stream"

// AcceptsEvents reports whether a client asks for server-sent events.
func AcceptsEvents(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), EventStream)
}
