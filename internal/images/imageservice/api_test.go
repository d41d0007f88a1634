package imageservice_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/encryption"
	"slipway/internal/platform/store"
	"slipway/internal/service/evaluation"
	"slipway/internal/testing/httpclient"
	"slipway/internal/testing/pgtest"
	"slipway/internal/testing/usertoken"
	"slipway/internal/wire"
)

const (
	base       = "/api/assisted-install"
	pullSecret = `{"auths":{"cloud.openshift.com":{"auth":"dXNlcjpwYXNzd29yZAo=","email":"r@r.com"}}}`
)

// service is the v2 API over HTTP, as far as images need it: no installation, no workflows.
type service struct {
	t      *testing.T
	url    string
	store  *store.Store
	logged *logBuffer
}

// newService starts the API; change may alter its options.
func newService(t *testing.T, change ...func(*api.Options)) *service {
	t.Helper()
	database := pgtest.Migrated(t, store.Migrate)
	sealer, err := encryption.New(bytes.Repeat([]byte{7}, encryption.KeySize))
	require.NoError(t, err)
	s := &service{t: t, logged: &logBuffer{}}
	s.store, err = store.Open(t.Context(), store.Options{URL: database, Sealer: sealer, Now: time.Now})
	require.NoError(t, err)
	t.Cleanup(s.store.Close)
	files, err := blob.Open(t.Context(), "file://"+t.TempDir(), sealer)
	require.NoError(t, err)
	log := slog.New(slog.NewJSONHandler(s.logged, nil))
	releases, err := openshift.ParseReleases([]byte(`[
		{"version":"4.22.9","cpu_architectures":["x86_64","arm64"],"support_level":"production","default":true,"url":"quay.io/ocp/release:4.22.9-x86_64"},
		{"version":"4.16.68","cpu_architectures":["x86_64"],"support_level":"maintenance","url":"quay.io/ocp/release:4.16.68-x86_64"}]`))
	require.NoError(t, err)
	options := api.Options{
		Service: api.Service{
			Store: s.store, Blob: files, Log: log, Now: time.Now,
			Evaluation: evaluation.New(evaluation.Options{
				Store: s.store, Log: log, Now: time.Now, Timeouts: lifecycle.DefaultTimeouts(), ReaderPatience: time.Hour,
			}),
		},
		Catalogue: api.Catalogue{Releases: openshift.NewCatalogue(releases)},
		Deployment: api.Deployment{
			BaseURL: "http://service.example:8090", AgentVersion: "slipway-agent 1.0", Version: "1.0.0",
			AgentBinaries: fstest.MapFS{"slipway-agent-x86_64": {Data: []byte("agent program")}},
		},
	}
	for _, c := range change {
		c(&options)
	}
	s.url = serve(t, options)
	return s
}

// serve starts the API on TCP.
func serve(t *testing.T, options api.Options) string {
	t.Helper()
	server := httptest.NewServer(api.NewServer(options))
	t.Cleanup(server.Close)
	return server.URL
}

// infraEnv registers an InfraEnv without a cluster.
func (s *service) infraEnv() wire.InfraEnv {
	s.t.Helper()
	var e wire.InfraEnv
	s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs", map[string]any{"name": "env", "pull_secret": pullSecret}).json(&e)
	return e
}

func envPath(id uuid.UUID) string { return "/v2/infra-envs/" + id.String() }

// want makes a request to the API that must have a status; headers come in pairs.
func (s *service) want(status int, method, path string, body any, headers ...string) reply {
	s.t.Helper()
	content := []byte(nil)
	if body != nil {
		var err error
		content, err = json.Marshal(body)
		require.NoError(s.t, err)
		headers = append(headers, "Content-Type", "application/json")
	}
	r := ask(s.t, method, s.url+base+path, content, headers...)
	require.Equal(s.t, status, r.status, "%s %s: %s", method, path, r.body)
	return r
}

func ask(t *testing.T, method, address string, body []byte, headers ...string) reply {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, bytes.NewReader(body))
	require.NoError(t, err)
	for n := 0; n < len(headers); n += 2 {
		request.Header.Set(headers[n], headers[n+1])
	}
	response, err := httpclient.New(t).Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return reply{t, response.StatusCode, response.Header, text}
}

// reply is an answer, read whole.
type reply struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
}

// json reads the body into a value.
func (r reply) json(into any) {
	r.t.Helper()
	require.NoError(r.t, json.Unmarshal(r.body, into), "body: %s", r.body)
}

// object reads the body as a JSON object.
func (r reply) object() map[string]any {
	r.t.Helper()
	out := map[string]any{}
	r.json(&out)
	return out
}

// reason requires an error of a status and returns its sentence.
func (r reply) reason(status int) string {
	r.t.Helper()
	require.Equal(r.t, status, r.status, "body: %s", r.body)
	var e wire.Error
	r.json(&e)
	require.Equal(r.t, int32(status), e.ID)
	require.Equal(r.t, "Error", string(e.Kind))
	require.NotEmpty(r.t, e.Reason)
	return e.Reason
}

// message requires a refusal in the shape of InfraError and returns its sentence.
func (r reply) message(status int) string {
	r.t.Helper()
	require.Equal(r.t, status, r.status, "body: %s", r.body)
	var e wire.InfraError
	r.json(&e)
	require.Equal(r.t, int32(status), e.Code)
	return e.Message
}

// local is a service whose callers need tokens. The helpers of service still work: they
// go to a second one on the same data that takes everybody.
type local struct {
	*service
	tokens *auth.Local
	users  usertoken.Book
	closed *service
}

func newLocal(t *testing.T, mode auth.Mode) *local {
	t.Helper()
	l := &local{}
	var options api.Options
	l.service = newService(t, func(o *api.Options) { options = *o })
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	private, public := keyPair(t, key)
	l.tokens, err = auth.NewLocal(auth.LocalOptions{
		Mode: mode, Now: time.Now, TokenKey: l.store.TokenKey, User: l.users.Find, PrivateKey: model.Secret(private), PublicKey: public,
	})
	require.NoError(t, err)
	options.Identity = l.tokens
	l.closed = &service{t: t, url: serve(t, options), store: l.store, logged: l.logged}
	return l
}

// keyPair makes a key and its public half in PEM.
func keyPair(t *testing.T, key *ecdsa.PrivateKey) (private, public string) {
	t.Helper()
	der, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	private = string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
	der, err = x509.MarshalPKIXPublicKey(&key.PublicKey)
	require.NoError(t, err)
	return private, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

func (l *local) token(g auth.Grant) string {
	l.t.Helper()
	if g.Scheme == auth.SchemeUser && l.tokens.Mode == auth.ModeLocal {
		return l.users.Sign(l.t, l.tokens, "ann", auth.RoleAdmin, time.Now().Add(time.Hour))
	}
	token, err := l.tokens.Token(g)
	require.NoError(l.t, err)
	return token.Reveal()
}

// logBuffer keeps what is logged.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
