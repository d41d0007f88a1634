package encryption_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/encryption"
)

func key(fill byte) []byte { return bytes.Repeat([]byte{fill}, encryption.KeySize) }

func newSealer(t *testing.T, key []byte, old ...[]byte) *encryption.Sealer {
	t.Helper()
	s, err := encryption.New(key, old...)
	require.NoError(t, err)
	return s
}

func TestOpenGivesBackWhatWasSealed(t *testing.T) {
	t.Parallel()
	s := newSealer(t, key(1))
	for _, plain := range [][]byte{nil, []byte("x"), bytes.Repeat([]byte("secret"), 100_000)} {
		sealed := s.Seal("clusters", plain, []byte("clusters/pull_secret"))
		require.Len(t, sealed, len(plain)+encryption.Overhead)
		require.True(t, s.Current("clusters", sealed, []byte("clusters/pull_secret")))
		got, err := s.Open("clusters", sealed, []byte("clusters/pull_secret"))
		require.NoError(t, err)
		require.True(t, bytes.Equal(plain, got))
	}
}

func TestSealNeverGivesTheSameBytesTwice(t *testing.T) {
	t.Parallel()
	s := newSealer(t, key(1))
	require.NotEqual(t, s.Seal("clusters", []byte("same"), nil), s.Seal("clusters", []byte("same"), nil))
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	s := newSealer(t, key(1))
	sealed := s.Seal("clusters", []byte("secret"), []byte("here"))
	change := func(i int) []byte {
		c := bytes.Clone(sealed)
		c[i] ^= 1
		return c
	}
	for name, c := range map[string]struct {
		sealed []byte
		aad    string
		want   error
	}{
		"a value of another place":     {sealed, "there", encryption.ErrAuthentication},
		"a changed text":               {change(len(sealed) - 20), "here", encryption.ErrAuthentication},
		"a changed nonce":              {change(5), "here", encryption.ErrAuthentication},
		"another version":              {change(0), "here", encryption.ErrMalformed},
		"another key id":               {change(1), "here", encryption.ErrUnknownKey},
		"a value that is cut":          {sealed[:encryption.Overhead-1], "here", encryption.ErrMalformed},
		"a value that was cut by some": {sealed[:len(sealed)-1], "here", encryption.ErrAuthentication},
		"nothing":                      {nil, "here", encryption.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := s.Open("clusters", c.sealed, []byte(c.aad))
			require.ErrorIs(t, err, c.want)
		})
	}
}

func TestRotatedSealerOpensOldValues(t *testing.T) {
	t.Parallel()
	before := newSealer(t, key(1))
	after := newSealer(t, key(2), key(1))
	sealed := before.Seal("clusters", []byte("secret"), nil)

	got, err := after.Open("clusters", sealed, nil)
	require.NoError(t, err)
	require.Equal(t, "secret", string(got))
	require.False(t, after.Current("clusters", sealed, nil))

	_, err = before.Open("clusters", after.Seal("clusters", []byte("secret"), nil), nil)
	require.ErrorIs(t, err, encryption.ErrUnknownKey)
}

// The id of a key is a byte.
func TestKeysWithTheSameIDAreDistinguished(t *testing.T) {
	t.Parallel()
	numbered := func(n int) []byte {
		k := key(byte(n))
		k[0] = byte(n >> 8)
		return k
	}
	sealers, texts := map[byte]int{}, [][]byte{}
	for n := range 300 {
		text := newSealer(t, numbered(n)).Seal("clusters", []byte("secret"), nil)
		texts = append(texts, text)
		other, same := sealers[text[1]]
		sealers[text[1]] = n
		if !same {
			continue
		}
		both := newSealer(t, numbered(n), numbered(other))
		for _, sealed := range [][]byte{texts[n], texts[other]} {
			got, err := both.Open("clusters", sealed, nil)
			require.NoError(t, err)
			require.Equal(t, "secret", string(got))
		}
		require.True(t, both.Current("clusters", texts[n], nil))
		require.False(t, both.Current("clusters", texts[other], nil))
		return
	}
	require.Fail(t, "300 keys have 300 ids")
}

func TestNewRefusesBadKeys(t *testing.T) {
	t.Parallel()
	_, err := encryption.New([]byte("short"))
	require.EqualError(t, err, "require a key of 32 bytes, found 5")
	_, err = encryption.New(key(1), key(1))
	require.ErrorContains(t, err, "the same key is given twice")
}

func TestLoadOrCreateMakesAPrivateFileOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys", "seal.key")
	sealers := make([]*encryption.Keys, 8)
	var wg sync.WaitGroup
	for i := range sealers {
		wg.Go(func() {
			s, err := encryption.File{Path: path}.LoadOrCreate()
			if err == nil {
				sealers[i] = s
			}
		})
	}
	wg.Wait()
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1)
	for _, s := range sealers {
		require.NotNil(t, s)
		got, err := s.Open("clusters", sealers[0].Seal("clusters", []byte("secret"), nil), nil)
		require.NoError(t, err)
		require.Equal(t, "secret", string(got))
	}
}

func TestLoadOrCreateReadsSeveralKeys(t *testing.T) {
	t.Parallel()
	line := func(k []byte) string { return base64.StdEncoding.EncodeToString(k) + "\n" }
	path := filepath.Join(t.TempDir(), "seal.key")
	require.NoError(t, os.WriteFile(path, []byte("# new\nkinds:"+line(key(2))+"\n"+line(key(1))), 0o600))
	s, err := encryption.File{Path: path}.LoadOrCreate()
	require.NoError(t, err)
	_, err = s.Open("clusters", newSealer(t, key(1)).Seal("clusters", nil, nil), nil)
	require.NoError(t, err)
	require.True(t, s.Current("clusters", newSealer(t, key(2)).Seal("clusters", nil, nil), nil))
}

func TestLoadOrCreateRefusesBadFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content string
		mode    os.FileMode
		want    string
	}{
		"readable by everybody": {base64.StdEncoding.EncodeToString(key(1)), 0o644, "found mode 0644"},
		"empty":                 {"", 0o600, "at least one key is required"},
		"not a key":             {"# key\nhello\n", 0o600, "line 2: require 32 bytes in base64"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "seal.key")
			require.NoError(t, os.WriteFile(path, []byte(c.content), c.mode))
			_, err := encryption.File{Path: path}.LoadOrCreate()
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, path)
		})
	}
}
