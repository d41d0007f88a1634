package store

import (
	"context"
	"sync/atomic"

	"github.com/google/uuid"
)

type firstLookKey struct{}

// firstLook carries what was read of a host for its credential to the first Poll of the same request.
type firstLook struct{ view atomic.Pointer[polled] }

type polled struct {
	infraEnvID, hostID uuid.UUID
	view               *PollView
}

// WithFirstLook returns the context of a poll that is answered at once: HostAccess reads what Poll reads as well, and the first Poll of the
// same host returns that. A poll that is held looks for itself, because steps that come before it listens would be missed.
func WithFirstLook(ctx context.Context) context.Context {
	return context.WithValue(ctx, firstLookKey{}, &firstLook{})
}

// firstLookOf returns nil without one.
func firstLookOf(ctx context.Context) *firstLook {
	look, _ := ctx.Value(firstLookKey{}).(*firstLook)
	return look
}

// take returns what was read of a host, once; nil without.
func (f *firstLook) take(infraEnvID, hostID uuid.UUID) *PollView {
	if f == nil {
		return nil
	}
	if p := f.view.Swap(nil); p != nil && p.infraEnvID == infraEnvID && p.hostID == hostID {
		return p.view
	}
	return nil
}
