// Package audit records what users do: a row before a command has an effect, and its outcome before the answer is sent.
package audit

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/felixge/httpsnoop"
	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"slipway/internal/model"
	"slipway/internal/platform/auth"
)

// Store keeps the rows.
type Store interface {
	// BeginAudit writes a row without an outcome, EndAudit adds it, AddAudit writes a row that has one.
	BeginAudit(ctx context.Context, e *model.AuditEntry) error
	EndAudit(ctx context.Context, e *model.AuditEntry) error
	AddAudit(ctx context.Context, e *model.AuditEntry) error
}

// Trail records commands. It is safe for concurrent use.
type Trail struct {
	store    Store
	log      *slog.Logger
	refusals refusals
}

// New returns a Trail that keeps rows in a store.
func New(store Store, log *slog.Logger, now func() time.Time) *Trail {
	return &Trail{store: store, log: log, refusals: refusals{now: now, users: map[string]*rate.Limiter{}}}
}

// outcomePatience is how long an answer waits for its outcome to be written.
const outcomePatience = 5 * time.Second

// Entry returns the row of a request: who sends it, from where.
func Entry(r *http.Request, caller auth.Caller, credential model.AuditCredential) model.AuditEntry {
	e := model.AuditEntry{
		UserName: caller.Name, OrgID: caller.OrgID, Role: string(caller.Role), Credential: credential, Method: r.Method, Address: r.RemoteAddr,
	}
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		e.Address = host
	}
	if caller.TokenID != uuid.Nil {
		e.TokenID = &caller.TokenID
	}
	return e
}

type entryKey struct{}

// Add lets a handler complete the row of its request, before it answers: with the objects that it makes. It does nothing for a request
// that is not recorded.
func Add(ctx context.Context, fn func(e *model.AuditEntry)) {
	if e, recorded := ctx.Value(entryKey{}).(*model.AuditEntry); recorded {
		fn(e)
	}
}

// Record writes the row of a command and lets next answer it. When the row cannot be written it returns the error, and next is not called.
func (t *Trail) Record(w http.ResponseWriter, r *http.Request, e *model.AuditEntry, next http.Handler) error {
	if err := t.store.BeginAudit(r.Context(), e); err != nil {
		return err
	}
	ctx := context.WithValue(r.Context(), entryKey{}, e)
	a := &answer{trail: t, entry: e}
	defer a.end(ctx)
	next.ServeHTTP(a.wrap(ctx, w), r.WithContext(ctx))
	a.returned = true
	return nil
}

// Refused writes the row of a request that had no effect. A row that cannot be written is in the log: the refusal stands without it. Of a
// user who is refused very often some refusals are in no row.
func (t *Trail) Refused(ctx context.Context, e *model.AuditEntry, status int) {
	if !t.refusals.take(e) {
		return
	}
	e.End(status)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), outcomePatience)
	defer cancel()
	if err := t.store.AddAudit(ctx, e); err != nil {
		t.log.ErrorContext(ctx, "refusal not in the audit", "user", e.UserName, "operation", e.Operation, "status", status, "error", err)
	}
}

// answer writes the outcome of a command when its status code is known, before the client can read it.
type answer struct {
	trail    *Trail
	entry    *model.AuditEntry
	written  bool
	returned bool
}

func (a *answer) wrap(ctx context.Context, w http.ResponseWriter) http.ResponseWriter {
	return httpsnoop.Wrap(w, httpsnoop.Hooks{
		WriteHeader: func(next httpsnoop.WriteHeaderFunc) httpsnoop.WriteHeaderFunc {
			return func(status int) {
				if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
					a.write(ctx, status)
				}
				next(status)
			}
		},
		Write: func(next httpsnoop.WriteFunc) httpsnoop.WriteFunc {
			return func(p []byte) (int, error) {
				a.write(ctx, http.StatusOK)
				return next(p)
			}
		},
		ReadFrom: func(next httpsnoop.ReadFromFunc) httpsnoop.ReadFromFunc {
			return func(from io.Reader) (int64, error) {
				a.write(ctx, http.StatusOK)
				return next(from)
			}
		},
	})
}

// end writes the outcome of a handler that has written nothing: 200, and 500 after a panic.
func (a *answer) end(ctx context.Context) {
	if a.returned {
		a.write(ctx, http.StatusOK)
		return
	}
	a.write(ctx, http.StatusInternalServerError)
}

// write adds the outcome, once. The effect of the command stands whether it can be written or not; without it the row says so.
func (a *answer) write(ctx context.Context, status int) {
	if a.written {
		return
	}
	a.written = true
	a.entry.End(status)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), outcomePatience)
	defer cancel()
	if err := a.trail.store.EndAudit(ctx, a.entry); err != nil {
		a.trail.log.ErrorContext(ctx, "outcome not in the audit",
			"row", a.entry.ID, "operation", a.entry.Operation, "status", status, "error", err)
	}
}
