// Package vaulttest stands in for the transit engine of a Vault in tests.
package vaulttest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/encryption"
)

// Token is the token that the server accepts.
const Token = "hvs.a-token-of-tests" //nolint:gosec // of tests

// Vault is a server with one key, "slipway".
type Vault struct {
	*httptest.Server
	sealer *encryption.Sealer

	mu   sync.Mutex
	seen []string
}

// New starts a server until the test ends.
func New(t *testing.T) *Vault {
	t.Helper()
	sealer, err := encryption.New([]byte("a key which never leaves a vault"))
	require.NoError(t, err)
	v := &Vault{sealer: sealer}
	v.Server = httptest.NewServer(v)
	t.Cleanup(v.Close)
	return v
}

// Environment names the server and the token for programs.
func (v *Vault) Environment() []string {
	return []string{"VAULT_ADDR=" + v.URL, "VAULT_TOKEN=" + Token}
}

// Asked returns the paths that were asked for.
func (v *Vault) Asked() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]string(nil), v.seen...)
}

// ServeHTTP answers as https://developer.hashicorp.com/vault/api-docs/secret/transit describes.
func (v *Vault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	v.seen = append(v.seen, r.URL.Path)
	v.mu.Unlock()
	var in struct{ Plaintext, Ciphertext string }
	if r.Header.Get("X-Vault-Token") != Token {
		answer(w, http.StatusForbidden, map[string]any{"errors": []string{"permission denied"}})
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		answer(w, http.StatusBadRequest, map[string]any{"errors": []string{"no JSON"}})
		return
	}
	switch r.URL.Path {
	case "/v1/transit/encrypt/slipway":
		plain, _ := base64.StdEncoding.DecodeString(in.Plaintext)
		sealed := "vault:v1:" + base64.StdEncoding.EncodeToString(v.sealer.Seal("vault", plain, nil))
		answer(w, http.StatusOK, map[string]any{"data": map[string]string{"ciphertext": sealed}})
	case "/v1/transit/decrypt/slipway":
		sealed, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(in.Ciphertext, "vault:v1:"))
		plain, err := v.sealer.Open("vault", sealed, nil)
		if err != nil {
			answer(w, http.StatusBadRequest, map[string]any{"errors": []string{"cipher: message authentication failed"}})
			return
		}
		answer(w, http.StatusOK, map[string]any{"data": map[string]string{"plaintext": base64.StdEncoding.EncodeToString(plain)}})
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
