package release_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/release"
	"slipway/internal/model"
	"slipway/internal/platform/guard"
	"slipway/internal/sim/payload"
)

// A registry that a user names sends its client to another service of the machine: for a token (distribution: spec/auth/token), or for
// the image itself.
func TestRegistriesLeadToNoOtherServiceOfTheMachine(t *testing.T) {
	t.Parallel()
	var asked atomic.Bool
	inner := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Store(true)
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(inner.Close)
	for name, answer := range map[string]http.HandlerFunc{
		"the realm of a token": func(w http.ResponseWriter, _ *http.Request) {
			// By name: the registry client refuses some addresses by itself.
			realm := strings.Replace(inner.URL, "127.0.0.1", "localhost", 1) + "/token"
			w.Header().Set("WWW-Authenticate", `Bearer realm="`+realm+`",service="registry"`)
			w.WriteHeader(http.StatusUnauthorized)
		},
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v2/" {
				w.WriteHeader(http.StatusOK)
				return
			}
			http.Redirect(w, r, inner.URL+r.URL.Path, http.StatusTemporaryRedirect)
		},
	} {
		registry := httptest.NewTLSServer(answer)
		t.Cleanup(registry.Close)
		r, _ := open(t, serve(t, payload.Options{}), func(o *release.Options) {
			o.TrustBundles = []string{string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: registry.Certificate().Raw}))}
			o.Dial = guard.Outbound{Hosts: []string{registry.Listener.Addr().String()}}.DialContext
		})
		image := strings.TrimPrefix(registry.URL, "https://") + "/ocp/release:4.20.33"
		_, err := r.Info(t.Context(), image, pullSecret)
		require.ErrorIs(t, err, model.ErrUnprocessable, name)
		require.ErrorContains(t, err, "require an address beyond this machine and its links", name)
		require.False(t, asked.Load(), name)
	}
}
