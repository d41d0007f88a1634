package keyservice_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/encryption"
	"slipway/internal/platform/keyservice"
	"slipway/internal/testing/vaulttest"
)

// The driver reads the environment once in a process: one test has all cases of Vault.
func TestVaultSealsAKeyFile(t *testing.T) {
	vault := vaulttest.New(t)
	t.Setenv("VAULT_ADDR", vault.URL)
	t.Setenv("VAULT_TOKEN", vaulttest.Token)
	keeper, err := keyservice.Open(t.Context(), "hashivault://slipway")
	require.NoError(t, err)
	require.Empty(t, vault.Asked(), "opening asks nothing")
	file := encryption.File{Path: filepath.Join(t.TempDir(), "keys"), Service: keeper}
	keys, err := file.LoadOrCreate()
	require.NoError(t, err)
	content, err := os.ReadFile(file.Path)
	require.NoError(t, err)
	require.True(t, encryption.Sealed(content))
	again, err := file.Read()
	require.NoError(t, err)
	require.Equal(t, keys.Held()[0].ID(), again[0].ID())

	other, err := keyservice.Open(t.Context(), "hashivault://missing")
	require.NoError(t, err)
	_, err = encryption.File{Path: file.Path, Service: other}.Read()
	require.ErrorContains(t, err, "the answer of the key service cannot be read", "the driver panics at an answer without content")

	changed := bytes.Clone(content)
	at := bytes.Index(changed, []byte("KEYS-----\n")) + 40
	changed[at] = map[bool]byte{true: 'B', false: 'A'}[changed[at] == 'A'] // base64 still
	for want, damaged := range map[string][]byte{
		"open it with the key service: ": changed,
		"is cut or changed":              content[:len(content)-40],
	} {
		require.NoError(t, os.WriteFile(file.Path, damaged, 0o600))
		_, err = file.Read()
		require.ErrorContains(t, err, want)
	}
}

func TestAWSKMSSealsAKeyFile(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ KeyId, Plaintext, CiphertextBlob string } //nolint:revive // names of the API
		_ = json.NewDecoder(r.Body).Decode(&in)
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		out := map[string]string{"KeyId": in.KeyId}
		switch r.Header.Get("X-Amz-Target") {
		case "TrentService.Encrypt":
			plain, _ := base64.StdEncoding.DecodeString(in.Plaintext)
			out["CiphertextBlob"] = base64.StdEncoding.EncodeToString(append([]byte("kms:"), plain...))
		case "TrentService.Decrypt":
			sealed, _ := base64.StdEncoding.DecodeString(in.CiphertextBlob)
			out["Plaintext"] = base64.StdEncoding.EncodeToString(bytes.TrimPrefix(sealed, []byte("kms:")))
		}
		_ = json.NewEncoder(w).Encode(out)
	}))
	t.Cleanup(server.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	keeper, err := keyservice.Open(t.Context(), "awskms://alias/slipway?region=eu-central-1&endpoint="+server.URL)
	require.NoError(t, err)
	file := encryption.File{Path: filepath.Join(t.TempDir(), "keys"), Service: keeper}
	keys, err := file.LoadOrCreate()
	require.NoError(t, err)
	require.True(t, keys.Sealed())
	again, err := file.Read()
	require.NoError(t, err)
	require.Equal(t, keys.Held()[0].ID(), again[0].ID())
}

func TestOpenRefusesAddressesThatNameNoKeyService(t *testing.T) {
	for address, want := range map[string]string{
		"":                           `require hashivault://KEY or awskms://KEY, found ""`,
		"slipway":                    `found ""`,
		"hashivault://":              `found "hashivault://..."`,
		"base64key://c2VjcmV0":       `found "base64key://..."`,
		"gcpkms://projects/p":        `found "gcpkms://..."`,
		"hashivault://u:secret@k":    "an address without a password",
		"hashivault://\x7fsecret":    `found ""`,
		"hashivault://slipway?a=b":   `invalid query parameter "a"`,
		"awskms://alias/x?secret=yx": "open the key service: ",
	} {
		t.Setenv("VAULT_ADDR", "http://192.0.2.1:8200")
		_, err := keyservice.Open(t.Context(), address)
		require.ErrorContains(t, err, want, address)
		require.NotContains(t, err.Error(), "c2VjcmV0")
	}
}
