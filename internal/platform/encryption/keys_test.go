package encryption_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/encryption"
)

func keyFile(t *testing.T) (string, *encryption.Keys) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys")
	keys, err := encryption.File{Path: path}.LoadOrCreate()
	require.NoError(t, err)
	return path, keys
}

// A process that was given no new key yet reads what one with the new key has written.
func TestKeysAreReadAgainForAValueOfAnotherProcess(t *testing.T) {
	t.Parallel()
	path, slow := keyFile(t)
	before := slow.Seal("clusters", []byte("old"), []byte("here"))
	added, err := encryption.File{Path: path}.AddKey()
	require.NoError(t, err)
	quick, err := encryption.File{Path: path}.LoadOrCreate()
	require.NoError(t, err)
	require.Equal(t, added.Header(), quick.Header())
	require.NotEqual(t, added.Header(), slow.Header())

	after := quick.Seal("clusters", []byte("new"), []byte("here"))
	require.Equal(t, added.Header(), after[:2])
	got, err := slow.Open("clusters", after, []byte("here"))
	require.NoError(t, err)
	require.Equal(t, "new", string(got))
	require.True(t, slow.Current("clusters", after, []byte("here")), "it seals with the new key from now on")
	for _, k := range []*encryption.Keys{slow, quick} {
		got, err := k.Open("clusters", before, []byte("here"))
		require.NoError(t, err)
		require.Equal(t, "old", string(got))
		require.False(t, k.Current("clusters", before, []byte("here")))
	}
	_, err = slow.Open("clusters", after, []byte("there"))
	require.ErrorIs(t, err, encryption.ErrAuthentication)
}

// Many requests of one process meet a value of a new key at once: one of them reads the file, and all open it.
func TestKeysAreReadAgainForManyAtOnce(t *testing.T) {
	t.Parallel()
	for range 20 {
		path, slow := keyFile(t)
		_, err := encryption.File{Path: path}.AddKey()
		require.NoError(t, err)
		quick, err := encryption.File{Path: path}.LoadOrCreate()
		require.NoError(t, err)
		sealed := quick.Seal("clusters", []byte("new"), []byte("here"))
		var all sync.WaitGroup
		begin, errs := make(chan struct{}), make(chan error, 50)
		for range cap(errs) {
			all.Go(func() {
				<-begin
				_, err := slow.Open("clusters", sealed, []byte("here"))
				errs <- err
			})
		}
		close(begin)
		all.Wait()
		close(errs)
		for err := range errs {
			require.NoError(t, err)
		}
	}
}

func TestAddedKeyStandsAboveTheOthersAndKeepsTheFileAsItIs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	first := base64.StdEncoding.EncodeToString(key(1))
	require.NoError(t, os.WriteFile(path, []byte("# of the company\n\n"+first), 0o640))
	require.NoError(t, os.Chmod(path, 0o640))
	added, err := encryption.File{Path: path}.AddKey()
	require.NoError(t, err)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.Split(string(data), "\n")
	require.Len(t, lines, 5)
	require.Equal(t, []string{"# of the company", ""}, lines[:2])
	require.Equal(t, []string{first, ""}, lines[3:])
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode())
	keys, err := encryption.File{Path: path}.Read()
	require.NoError(t, err)
	require.Equal(t, added.ID(), keys[0].ID())

	require.ErrorIs(t, encryption.File{Path: path}.RemoveKey(added.ID()), encryption.ErrKeyInUse)
	require.ErrorContains(t, encryption.File{Path: path}.RemoveKey("00000000"), `found "00000000"`)
	require.NoError(t, encryption.File{Path: path}.RemoveKey(keys[1].ID()))
	left, err := encryption.File{Path: path}.Read()
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Equal(t, added.ID(), left[0].ID())
}

// Values hold one byte of the id: all keys of a file differ in it.
func TestTwentyKeysAddedAtOnceAreAllDifferent(t *testing.T) {
	t.Parallel()
	path, keys := keyFile(t)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			_, err := encryption.File{Path: path}.AddKey()
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	changed, err := keys.Reload()
	require.NoError(t, err)
	require.True(t, changed)
	headers := map[string]bool{}
	for _, k := range keys.Held() {
		headers[string(k.Header())] = true
	}
	require.Len(t, headers, 21)
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1)
}

func TestReloadKeepsTheKeysWhenTheFileIsBadOrGone(t *testing.T) {
	t.Parallel()
	path, keys := keyFile(t)
	sealed := keys.Seal("clusters", []byte("secret"), nil)
	changed, err := keys.Reload()
	require.NoError(t, err)
	require.False(t, changed)

	require.NoError(t, os.WriteFile(path, []byte("half a k"), 0o600))
	_, err = keys.Reload()
	require.ErrorContains(t, err, path+": line 1: require 32 bytes in base64")
	require.NoError(t, os.Remove(path))
	_, err = keys.Reload()
	require.ErrorIs(t, err, encryption.ErrNoKeyFile)
	_, err = encryption.File{Path: path}.AddKey()
	require.ErrorContains(t, err, "find key file")

	got, err := keys.Open("clusters", sealed, nil)
	require.NoError(t, err)
	require.Equal(t, "secret", string(got))
}
