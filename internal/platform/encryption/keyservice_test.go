package encryption_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/encryption"
)

// reversing seals by reversing bytes; it counts its answers.
type reversing struct{ asked int }

func (r *reversing) Encrypt(_ context.Context, plain []byte) ([]byte, error) { return r.reverse(plain) }

func (r *reversing) Decrypt(_ context.Context, sealed []byte) ([]byte, error) {
	return r.reverse(sealed)
}

func (r *reversing) reverse(in []byte) ([]byte, error) {
	r.asked++
	out := make([]byte, len(in))
	for i, b := range in {
		out[len(in)-1-i] = b
	}
	return out, nil
}

// broken fails in one direction.
type broken struct {
	reversing
	encrypt, decrypt func() ([]byte, error)
}

func (b *broken) Encrypt(ctx context.Context, plain []byte) ([]byte, error) {
	if b.encrypt != nil {
		return b.encrypt()
	}
	return b.reversing.Encrypt(ctx, plain)
}

func (b *broken) Decrypt(ctx context.Context, sealed []byte) ([]byte, error) {
	if b.decrypt != nil {
		return b.decrypt()
	}
	return b.reversing.Decrypt(ctx, sealed)
}

func TestKeyFileOfAServiceIsNeverInClear(t *testing.T) {
	t.Parallel()
	file := encryption.File{Path: filepath.Join(t.TempDir(), "keys"), Service: &reversing{}}
	keys, err := file.LoadOrCreate()
	require.NoError(t, err)
	require.True(t, keys.Sealed())
	sealed := keys.Seal("clusters", []byte("secret"), nil)
	clear := encryption.File{Path: filepath.Join(t.TempDir(), "keys")}
	requireSealed := func() {
		content, err := os.ReadFile(file.Path)
		require.NoError(t, err)
		require.True(t, encryption.Sealed(content))
		require.NotRegexp(t, `(?m)^[A-Za-z0-9+/]{43}=$`, string(content), "a line with a key")
		info, err := os.Stat(file.Path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode())
	}
	requireSealed()
	added, err := file.AddKey()
	require.NoError(t, err)
	requireSealed()
	held, err := file.Read()
	require.NoError(t, err)
	require.Equal(t, []string{added.ID(), keys.Held()[0].ID()}, []string{held[0].ID(), held[1].ID()})
	changed, err := keys.Reload()
	require.NoError(t, err)
	require.True(t, changed)
	got, err := keys.Open("clusters", sealed, nil)
	require.NoError(t, err)
	require.Equal(t, "secret", string(got))
	require.NoError(t, file.RemoveKey(held[1].ID()))
	requireSealed()

	_, err = encryption.File{Path: file.Path}.Read()
	require.ErrorIs(t, err, encryption.ErrSealed)
	require.ErrorContains(t, err, "require --key-service")
	_, err = clear.LoadOrCreate()
	require.NoError(t, err)
	content, err := os.ReadFile(clear.Path)
	require.NoError(t, err)
	require.False(t, encryption.Sealed(content))
}

// A key service is asked when the file changes, not for each value.
func TestKeyServiceIsAskedForNewContentOnly(t *testing.T) {
	t.Parallel()
	service := &reversing{}
	file := encryption.File{Path: filepath.Join(t.TempDir(), "keys"), Service: service}
	keys, err := file.LoadOrCreate()
	require.NoError(t, err)
	asked := service.asked
	foreign := newSealer(t, key(1)).Seal("clusters", []byte("secret"), nil)
	for range 20 {
		_, err := keys.Open("clusters", foreign, nil)
		require.Error(t, err)
		_, err = keys.Reload()
		require.NoError(t, err)
	}
	require.Equal(t, asked, service.asked)
}

func TestKeyFileInClearIsSealedAndUnsealed(t *testing.T) {
	t.Parallel()
	path, keys := keyFile(t)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	file := encryption.File{Path: path, Service: &reversing{}}
	opened, err := file.LoadOrCreate()
	require.NoError(t, err, "a file in clear is read as before")
	require.False(t, opened.Sealed())
	require.NoError(t, file.Seal())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(content), string(bytes.TrimSpace(before[bytes.LastIndexByte(bytes.TrimSpace(before), '\n'):])))
	changed, err := opened.Reload()
	require.NoError(t, err)
	require.True(t, changed)
	require.True(t, opened.Sealed())
	require.Equal(t, keys.Held()[0].ID(), opened.Held()[0].ID())

	require.NoError(t, file.Unseal())
	content, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(before), string(content))
}

// No file is replaced by one that cannot be opened.
func TestKeyFileStaysWhenTheServiceFails(t *testing.T) {
	t.Parallel()
	down := func() ([]byte, error) { return nil, errors.New("connection refused") }
	for name, c := range map[string]struct {
		service encryption.Service
		want    string
	}{
		"a service that does not answer": {&broken{encrypt: down}, "seal it with the key service: connection refused"},
		"a service that opens nothing":   {&broken{decrypt: down}, "open again what the key service sealed: connection refused"},
		"a service that opens something else": {
			&broken{decrypt: func() ([]byte, error) { return nil, nil }}, "opens something else than it sealed",
		},
		"a driver that panics": {
			&broken{decrypt: func() ([]byte, error) { panic("nil pointer") }}, "the answer of the key service cannot be read: nil pointer",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, _ := keyFile(t)
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			file := encryption.File{Path: path, Service: c.service}
			require.ErrorContains(t, file.Seal(), c.want)
			_, err = file.AddKey()
			require.ErrorContains(t, err, c.want)
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(before), string(after))

			missing := encryption.File{Path: filepath.Join(t.TempDir(), "keys"), Service: c.service}
			_, err = missing.LoadOrCreate()
			require.ErrorContains(t, err, c.want)
			require.NoFileExists(t, missing.Path)
		})
	}
}

func TestSealedKeyFileThatIsDamagedIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	// The line of a key is inside, and something else around it.
	inside := base64.StdEncoding.EncodeToString([]byte("no key"))
	require.NoError(t, os.WriteFile(path,
		[]byte("-----BEGIN SLIPWAY SEALED KEYS-----\n"+inside+"\n-----END SLIPWAY SEALED KEYS-----\n"), 0o600))
	_, err := encryption.File{Path: path, Service: &reversing{}}.Read()
	require.ErrorContains(t, err, path+": line 1: require 32 bytes in base64")
}
