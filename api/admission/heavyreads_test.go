package admission_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api/admission"
	"slipway/internal/model"
	"slipway/internal/platform/audit"
	"slipway/internal/platform/auth"
	"slipway/internal/testing/await"
)

// byName accepts the name of a role as its credential, with a number after it: user-1.
type byName struct{}

func (byName) Open() bool { return false }

func (byName) Caller(_ context.Context, _ auth.Scheme, credential string) (auth.Caller, error) {
	role, number, _ := strings.Cut(credential, "-")
	if role == "image" {
		return auth.Caller{Name: number, Role: auth.RoleAddress, Image: true}, nil
	}
	return auth.Caller{Name: number, Role: auth.Role(role)}, nil
}

// noKube is a store without objects of Kubernetes.
type noKube struct{ admission.Store }

func (noKube) KubeKey(context.Context, uuid.UUID, uuid.UUID, uuid.UUID) (model.KubeKey, error) {
	return model.KubeKey{}, nil
}

// noRows is a store of the audit that keeps nothing.
type noRows struct{}

func (noRows) BeginAudit(context.Context, *model.AuditEntry) error { return nil }
func (noRows) EndAudit(context.Context, *model.AuditEntry) error   { return nil }
func (noRows) AddAudit(context.Context, *model.AuditEntry) error   { return nil }

// slow is an API whose handlers wait; begun receives a value when one begins.
type slow struct {
	t          *testing.T
	handler    http.Handler
	begun, end chan struct{}
	running    sync.WaitGroup
	operations []admission.Operation
}

func newSlow(t *testing.T, limits admission.Limits) *slow {
	t.Helper()
	s := &slow{t: t, begun: make(chan struct{}), end: make(chan struct{})}
	router := chi.NewRouter()
	var documents []*admission.Document
	for file, base := range map[string]string{"../openapi.yaml": "/api", "../slipway.yaml": "/own"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		d, err := admission.ReadDocument(text, base)
		require.NoError(t, err)
		documents = append(documents, d)
	}
	gate := admission.New(admission.Options{
		Documents: documents, Identity: byName{}, Store: noKube{}, Limits: limits, Now: time.Now,
		Authorize:      func(context.Context, admission.Caller, string, admission.Object) error { return nil },
		Audit:          audit.New(noRows{}, slog.New(slog.DiscardHandler), time.Now),
		CheckSignature: func(*http.Request) (time.Time, error) { return time.Now(), nil },
	})
	for _, d := range documents {
		s.operations = append(s.operations, d.Operations()...)
		for _, o := range d.Operations() {
			router.With(gate.Admit).Method(o.Method, o.Path, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				select {
				case s.begun <- struct{}{}:
					<-s.end
				case <-s.end:
				}
			}))
		}
	}
	s.handler = router
	t.Cleanup(func() { close(s.end); s.running.Wait() })
	return s
}

// ask makes a request with a credential, and returns its answer when there is one.
func (s *slow) ask(method, path, credential string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(s.t.Context(), method, path, http.NoBody)
	for _, header := range []string{"Authorization", "X-Secret-Key", "Image-Token"} {
		r.Header.Set(header, credential)
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

// begin makes a request that its handler holds until the test ends.
func (s *slow) begin(method, path, credential string) {
	s.t.Helper()
	s.running.Go(func() { s.ask(method, path, credential) })
	await.Receive(s.t, s.begun)
}

const (
	lists = "/api/v2/clusters"
	polls = "/api/v2/infra-envs/00000000-0000-4000-8000-000000000001/hosts/00000000-0000-4000-8000-000000000002/instructions"
)

func TestTenListsOfAViewerLeaveRoomForTheOthers(t *testing.T) {
	t.Parallel()
	limits := admission.DefaultLimits()
	limits.HeavyWait = time.Hour
	s := newSlow(t, limits)
	for range 4 {
		s.begin(http.MethodGet, lists, "viewer-1")
	}
	ctx, leave := context.WithCancel(t.Context())
	for range 6 { // each waits for a turn, and none begins
		s.running.Go(func() {
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, lists, http.NoBody)
			r.Header.Set("Authorization", "viewer-1")
			s.handler.ServeHTTP(httptest.NewRecorder(), r)
		})
	}
	for n := range 20 { // each value of begun is of the request that is made here
		s.begin(http.MethodGet, polls, "agent-"+string(rune('a'+n)))
	}
	s.begin(http.MethodGet, lists, "viewer-2")
	s.begin(http.MethodGet, "/api/v2/component-versions", "viewer-1")
	select {
	case <-s.begun:
		require.Fail(t, "a fifth list with the same credential began")
	default:
	}
	leave()
}

func TestReadsWithoutATurnAreRefused(t *testing.T) {
	t.Parallel()
	limits := admission.DefaultLimits()
	limits.HeavyWait = time.Millisecond
	s := newSlow(t, limits)
	for range 4 {
		s.begin(http.MethodGet, lists, "user-1")
	}
	w := s.ask(http.MethodGet, lists, "user-1")
	require.Equal(t, http.StatusTooManyRequests, w.Code)
	require.Equal(t, "5", w.Header().Get("Retry-After"))
	require.Contains(t, w.Body.String(), "more than 4 requests with a large answer at once with one credential")

	for range 4 * admission.SharedReads {
		s.begin(http.MethodGet, lists+"/"+uuid.NewString(), "foreign-1")
	}
	require.Equal(t, http.StatusTooManyRequests, s.ask(http.MethodGet, lists+"/"+uuid.NewString(), "foreign-1").Code)

	signed := lists + "/" + uuid.NewString() + "/logs?signature=x"
	for range 4 {
		s.begin(http.MethodGet, signed, "")
	}
	require.Equal(t, http.StatusTooManyRequests, s.ask(http.MethodGet, signed, "").Code)
	s.begin(http.MethodGet, lists+"/"+uuid.NewString()+"/logs?signature=x", "")
}

func TestATurnThatIsGivenBackIsTaken(t *testing.T) {
	t.Parallel()
	limits := admission.DefaultLimits()
	limits.HeavyReads, limits.HeavyWait = 1, time.Hour
	s := newSlow(t, limits)
	s.begin(http.MethodGet, lists, "user-1")
	s.running.Go(func() { s.ask(http.MethodGet, lists, "user-1") })
	s.end <- struct{}{} // the first ends
	await.Receive(t, s.begun)
}

// parameter is a part of an address that names an object.
var parameter = regexp.MustCompile(`\{\w+\}`)

func TestOperationsWithLargeAnswers(t *testing.T) {
	t.Parallel()
	limits := admission.DefaultLimits()
	limits.HeavyReads, limits.HeavyWait = 1, time.Nanosecond
	s := newSlow(t, limits)
	var heavy []string
	for _, o := range s.operations {
		if !slices.Contains(admission.Allowed(o.ID), auth.RoleAdmin) {
			continue // of machines, with small answers
		}
		path, credential := parameter.ReplaceAllString(o.Path, uuid.NewString()), "admin-"+o.ID
		s.begin(o.Method, path, credential)
		answer := make(chan int, 1)
		s.running.Go(func() { answer <- s.ask(o.Method, path, credential).Code })
		select {
		case <-s.begun:
		case code := <-answer:
			require.Equal(t, http.StatusTooManyRequests, code)
			heavy = append(heavy, o.ID)
		}
	}
	require.ElementsMatch(t, []string{
		"v2ListClusters", "v2GetCluster", "V2UpdateCluster", "ListDeletedClusters", "ListClusterHosts", "v2ListHosts", "ListInfraEnvs",
		"v2ListEvents", "ListKubeObjects", "FindClusters", "FindHosts",
		"V2DownloadClusterLogs", "V2DownloadClusterFiles", "v2DownloadInfraEnvFiles",
		"DownloadMinimalInitrd", "v2DownloadHostIgnition",
	}, heavy)
}

// The image service reads the config of each image with the address of it, and bounds images itself.
func TestTheImageServiceWaitsForNoTurn(t *testing.T) {
	t.Parallel()
	limits := admission.DefaultLimits()
	limits.HeavyReads, limits.HeavyWait = 1, time.Nanosecond
	s := newSlow(t, limits)
	for range 3 {
		s.begin(http.MethodGet, "/api/v2/infra-envs/"+uuid.Nil.String()+"/downloads/files?file_name=discovery.ign", "image-1")
	}
}
