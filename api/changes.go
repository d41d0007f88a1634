package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/model"
	"slipway/internal/platform/httpapi"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

const (
	// changesAtOnce is how many changes an answer has at most.
	changesAtOnce = 1000
	// longestChangesWait is how long a request is held at most.
	longestChangesWait = time.Minute
	// longestChangesStream is when a stream ends; clients connect again, with a credential that is looked at again.
	longestChangesStream = 10 * time.Minute
	// streamBeat is how often a stream without changes has a comment, so that proxies keep it.
	streamBeat = 15 * time.Second
)

// listChanges returns which objects of the caller changed after a cursor. A client that prefers to wait is answered when there are some,
// or after the time it prefers (RFC 7240, section 4.3); one that accepts text/event-stream gets them as they come (HTML, section 9.2).
func (s *server) listChanges(w http.ResponseWriter, r *http.Request) error {
	text := r.URL.Query().Get("after")
	events := httpapi.AcceptsEvents(r)
	if last := r.Header.Get("Last-Event-ID"); events && last != "" {
		text = last // of a stream that continues
	}
	if text == "" {
		end, err := s.Store.NumberChanges(r.Context())
		if err != nil {
			return err
		}
		if !events {
			return ok(w, wire.Changes{Cursor: end.String(), Changes: []wire.Change{}})
		}
		text = end.String()
	}
	after, err := store.ParseCursor(text)
	if err != nil {
		return err
	}
	wait := min(admission.PreferredWait(r.Header.Values(wire.HeaderPrefer)), longestChangesWait)
	if events {
		wait = longestChangesStream
	}
	if wait > 0 {
		end, err := s.waits.Enter(admission.CallerOf(r).Key())
		if err != nil {
			return err
		}
		defer end()
	}
	if events {
		return s.streamChanges(w, r, after)
	}
	return s.replyChanges(w, r, after, wait)
}

func (s *server) replyChanges(w http.ResponseWriter, r *http.Request, after store.Cursor, wait time.Duration) error {
	if wait > 0 {
		defer s.hold(w, wait)()
		applied(w, wait)
	}
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	found, next, err := s.nextChanges(ctx, r, after)
	if err != nil {
		return err
	}
	return ok(w, changesToWire(found, next))
}

// nextChanges returns the changes after a cursor; when there are none, those that come until ctx ends.
func (s *server) nextChanges(ctx context.Context, r *http.Request, after store.Cursor) ([]store.Change, store.Cursor, error) {
	reading := context.WithoutCancel(ctx) // the time of ctx is for the wait
	if _, err := s.Store.NumberChanges(reading); err != nil {
		return nil, after, err
	}
	for {
		found, next, err := s.Store.ChangesAfter(reading, after, admission.Tenant(r), changesAtOnce)
		if err != nil || len(found) > 0 || s.Feed == nil || !s.Feed.Wait(ctx, next) {
			return found, next, err
		}
		after = next
	}
}

// streamChanges sends changes as server-sent events. The id of an event is the cursor to continue with.
func (s *server) streamChanges(w http.ResponseWriter, r *http.Request, after store.Cursor) error {
	control := http.NewResponseController(w)
	ctx, cancel := context.WithTimeout(r.Context(), longestChangesStream)
	defer cancel()
	wait := time.Duration(0) // the first answer shows that the stream has begun
	for begun := false; ; begun, wait = true, streamBeat {
		until, end := context.WithTimeout(ctx, wait)
		found, next, err := s.nextChanges(until, r, after)
		end()
		switch {
		case err != nil && !begun:
			return err
		case err != nil:
			_, _ = fmt.Fprintf(w, "event: end\ndata: %s\n\n", strings.ReplaceAll(err.Error(), "\n", " "))
			return nil
		case !begun:
			w.Header().Set("Content-Type", httpapi.EventStream)
			w.Header().Set("Cache-Control", "no-store")
			w.WriteHeader(http.StatusOK)
		}
		after = next
		if sendChanges(w, found, next) != nil || control.Flush() != nil || ctx.Err() != nil {
			return nil // the client is gone, or the stream is over
		}
	}
}

func sendChanges(w http.ResponseWriter, found []store.Change, next store.Cursor) error {
	if len(found) == 0 { // a comment with a new cursor
		_, err := fmt.Fprintf(w, ": nothing\nid: %s\n\n", next)
		return err
	}
	text, err := json.Marshal(changesToWire(found, next))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "id: %s\ndata: %s\n\n", next, text)
	return err
}

func changesToWire(changes []store.Change, next store.Cursor) wire.Changes {
	out := wire.Changes{Cursor: next.String(), Changes: make([]wire.Change, 0, len(changes))}
	for _, c := range changes {
		one := wire.Change{Kind: string(c.Kind), ID: c.ID, Deleted: c.Gone}
		if c.Kind == model.ObjectHost && c.InfraEnvID != uuid.Nil {
			one.InfraEnvID = &c.InfraEnvID
		}
		if c.Kind != model.ObjectCluster {
			one.ClusterID = c.ClusterID
		}
		out.Changes = append(out.Changes, one)
	}
	return out
}
