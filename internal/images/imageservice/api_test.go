package imageservice_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"net/http"
	"net/http/httptest"
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
	logged *httpclient.Buffer
}

// newService starts the API; change may alter its options.
func newService(t *testing.T, change ...func(*api.Options)) *service {
	t.Helper()
	database := pgtest.Migrated(t, store.Migrate)
	sealer, err := encryption.New(bytes.Repeat([]byte{7}, encryption.KeySize))
	require.NoError(t, err)
	s := &service{t: t, logged: &httpclient.Buffer{}}
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
	s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs", map[string]any{"name": "env", "pull_secret": pullSecret}).JSON(&e)
	return e
}

func envPath(id uuid.UUID) string { return "/v2/infra-envs/" + id.String() }

// want makes a request to the API that must have a status; headers come in pairs.
func (s *service) want(status int, method, path string, body any, headers ...string) reply {
	s.t.Helper()
	r := httpclient.Send(s.t, method, s.url+base+path, body, headers...)
	require.Equal(s.t, status, r.Status, "%s %s: %s", method, path, r.Body)
	return r
}

// reply is an answer, read whole.
type reply = httpclient.Reply

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
