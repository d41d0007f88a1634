package audit_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/audit"
	"slipway/internal/platform/auth"
)

// book keeps rows, and what the client had been sent when an outcome was written.
type book struct {
	begin, end error
	answer     *httptest.ResponseRecorder
	outcomes   []model.AuditOutcome
	statuses   []int
	sent       []int
	refused    int
}

func (b *book) BeginAudit(context.Context, *model.AuditEntry) error { return b.begin }

func (b *book) EndAudit(_ context.Context, e *model.AuditEntry) error {
	b.outcomes, b.statuses, b.sent = append(b.outcomes, e.Outcome), append(b.statuses, e.Status), append(b.sent, b.answer.Body.Len())
	return b.end
}

func (b *book) AddAudit(context.Context, *model.AuditEntry) error {
	b.refused++
	return nil
}

func TestOutcomeIsWrittenOnceBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		status  int
		outcome model.AuditOutcome
	}{
		"a status": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, "text")
		}, 409, model.AuditRefused},
		"a text alone":      {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "text") }, 200, model.AuditOK},
		"a file":            {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.Copy(w, strings.NewReader("text")) }, 200, model.AuditOK},
		"nothing":           {func(http.ResponseWriter, *http.Request) {}, 200, model.AuditOK},
		"a fault":           {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, 502, model.AuditFailed},
		"a panic":           {func(http.ResponseWriter, *http.Request) { panic("x") }, 500, model.AuditFailed},
		"an interim answer": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103); w.WriteHeader(201) }, 201, model.AuditOK},
		"an answer that ends early": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "text")
			panic(http.ErrAbortHandler)
		}, 200, model.AuditOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &book{answer: httptest.NewRecorder()}
			trail := audit.New(b, slog.New(slog.DiscardHandler), time.Now)
			func() {
				defer func() { _ = recover() }()
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
				require.NoError(t, trail.Record(b.answer, r, &model.AuditEntry{}, c.handler))
			}()
			require.Equal(t, []model.AuditOutcome{c.outcome}, b.outcomes)
			require.Equal(t, []int{c.status}, b.statuses)
			require.Equal(t, []int{0}, b.sent, "the client has nothing yet")
		})
	}
}

func TestHandlerIsNotCalledWithoutARow(t *testing.T) {
	t.Parallel()
	b := &book{begin: errors.New("full"), answer: httptest.NewRecorder()}
	err := audit.New(b, slog.New(slog.DiscardHandler), time.Now).Record(b.answer, httptest.NewRequest(http.MethodPost, "/", nil),
		&model.AuditEntry{}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the command has an effect") }))
	require.ErrorIs(t, err, b.begin)
	require.Empty(t, b.outcomes)
}

// A client that has left does not keep the outcome of its command from the row.
func TestOutcomeDoesNotNeedTheClient(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	b := &book{answer: httptest.NewRecorder(), end: errors.New("away")}
	ctx, leave := context.WithCancel(t.Context())
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", nil)
	e := audit.Entry(r, auth.Caller{Name: "ann", Role: auth.RoleAdmin}, model.AuditToken)
	require.NoError(t, audit.New(b, slog.New(slog.NewTextHandler(&log, nil)), time.Now).Record(b.answer, r, &e,
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			leave()
			audit.Add(r.Context(), func(e *model.AuditEntry) { e.Subject = "made" })
			w.WriteHeader(http.StatusCreated)
		})))
	require.Equal(t, []int{201}, b.statuses)
	require.Equal(t, []string{"ann", "made", "192.0.2.1"}, []string{e.UserName, e.Subject, e.Address})
	require.Contains(t, log.String(), "outcome not in the audit")
	require.Equal(t, http.StatusCreated, b.answer.Code, "the effect stands")
}

func TestRefusalsOfAUserAreBounded(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	now := begin
	b := &book{}
	trail := audit.New(b, slog.New(slog.DiscardHandler), func() time.Time { return now })
	refuse := func(user string, times int) int {
		before := b.refused
		for range times {
			trail.Refused(t.Context(), &model.AuditEntry{UserName: user}, http.StatusForbidden)
		}
		return b.refused - before
	}
	require.Equal(t, 200, refuse("vera", 300))
	require.Equal(t, 10, refuse("carl", 10), "another user")
	now = begin.Add(time.Minute)
	require.Equal(t, 200, refuse("vera", 300), "5 a second later")
}
