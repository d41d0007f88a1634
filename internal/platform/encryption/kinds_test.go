package encryption_test

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/encryption"
)

// gcm returns AES-256-GCM with a key, made without the package.
func gcm(t *testing.T, key []byte) cipher.AEAD {
	t.Helper()
	block, err := aes.NewCipher(key)
	require.NoError(t, err)
	aead, err := cipher.NewGCM(block)
	require.NoError(t, err)
	return aead
}

// keysOf reads a file with these lines.
func keysOf(t *testing.T, lines ...string) *encryption.Keys {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	keys, err := encryption.File{Path: path}.LoadOrCreate()
	require.NoError(t, err)
	return keys
}

func inBase64(key []byte) string { return base64.StdEncoding.EncodeToString(key) }

func TestAValueOfOneKindIsNoneOfAnother(t *testing.T) {
	t.Parallel()
	s := newSealer(t, key(1))
	sealed := s.Seal("hosts", []byte("secret"), []byte("id"))
	_, err := s.Open("clusters", sealed, []byte("id"))
	require.ErrorIs(t, err, encryption.ErrAuthentication)
	require.False(t, s.Current("clusters", sealed, []byte("id")))
	got, err := s.Open("hosts", sealed, []byte("id"))
	require.NoError(t, err)
	require.Equal(t, "secret", string(got))
}

// The derivation is part of the format: HKDF-SHA256 (RFC 5869) without a salt, with the information "slipway kind KIND".
func TestEachKindHasADerivedKey(t *testing.T) {
	t.Parallel()
	sealed := newSealer(t, key(1)).Seal("hosts", []byte("secret"), []byte("id"))
	require.Equal(t, byte(2), sealed[0])
	derived, err := hkdf.Key(sha256.New, key(1), nil, "slipway kind hosts", 32)
	require.NoError(t, err)
	got, err := gcm(t, derived).Open(nil, sealed[2:14], sealed[14:], append([]byte{2, sealed[1]}, "id"...))
	require.NoError(t, err)
	require.Equal(t, "secret", string(got))
	_, err = gcm(t, key(1)).Open(nil, sealed[2:14], sealed[14:], append([]byte{2, sealed[1]}, "id"...))
	require.Error(t, err)
}

// Processes of 0.2.0 and before read what a key of theirs seals.
func TestKeysOfEarlierVersionsSealAsBefore(t *testing.T) {
	t.Parallel()
	keys := keysOf(t, inBase64(key(1)))
	sealed := keys.Seal("hosts", []byte("secret"), []byte("id"))
	require.Equal(t, byte(1), sealed[0])
	require.Equal(t, keys.Header(), sealed[:2])
	got, err := gcm(t, key(1)).Open(nil, sealed[2:14], sealed[14:], append([]byte{1, sealed[1]}, "id"...))
	require.NoError(t, err)
	require.Equal(t, "secret", string(got))
	require.True(t, keys.Current("hosts", sealed, []byte("id")))
}

func TestARotationGivesEachKindAKey(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(path, []byte("# kept\n"+inBase64(key(1))+"\n"), 0o600))
	file := encryption.File{Path: path}
	keys, err := file.LoadOrCreate()
	require.NoError(t, err)
	before := keys.Seal("hosts", []byte("secret"), nil)
	added, err := file.AddKey()
	require.NoError(t, err)
	_, err = keys.Reload()
	require.NoError(t, err)
	require.Equal(t, byte(2), added.Header()[0])
	require.Equal(t, added.Header(), keys.Seal("hosts", nil, nil)[:2])
	got, err := keys.Open("hosts", before, nil)
	require.NoError(t, err)
	require.Equal(t, "secret", string(got))
	require.NoError(t, file.RemoveKey(keys.Held()[1].ID()))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Regexp(t, `\A# kept\nkinds:[A-Za-z0-9+/]{43}=\n\z`, string(content))
}

// Somebody may write the prefix before a key that is in use.
func TestAKeyThatGetsKindsOpensWhatItSealedBefore(t *testing.T) {
	t.Parallel()
	before := keysOf(t, inBase64(key(1)))
	after := keysOf(t, "kinds:"+inBase64(key(1)))
	sealed := before.Seal("hosts", []byte("secret"), nil)
	got, err := after.Open("hosts", sealed, nil)
	require.NoError(t, err)
	require.Equal(t, "secret", string(got))
	require.False(t, after.Current("hosts", sealed, nil))
	require.Equal(t, before.Held()[0].ID(), after.Held()[0].ID())
	require.Contains(t, after.Held()[0].Headers(), sealed[:2])
}
