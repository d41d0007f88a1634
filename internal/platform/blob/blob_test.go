package blob_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/encryption"
)

// open returns a store in a fresh folder, and the folder.
func open(t *testing.T) (*blob.Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "blobs")
	return openAt(t, dir, 1), dir
}

func openAt(t *testing.T, dir string, key byte) *blob.Store {
	t.Helper()
	sealer, err := encryption.New(bytes.Repeat([]byte{key}, encryption.KeySize))
	require.NoError(t, err)
	s, err := blob.Open(t.Context(), "file://"+dir+"?create_dir=1", sealer)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestObjectsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	s, dir := open(t)
	ctx := t.Context()
	for key, data := range map[string][]byte{
		"clusters/1/bootstrap.ign":          bytes.Repeat([]byte("ignition"), 500_000),
		"clusters/1/manifests/ünïcode.yaml": []byte("a: b"),
		"clusters/1/empty":                  {},
		"sealed-looking":                    []byte("\x00slipway-sealed\x00 but not sealed"),
	} {
		ref, err := s.Put(ctx, key, data)
		require.NoError(t, err)
		require.Equal(t, int64(len(data)), ref.Size)
		got, err := s.GetRef(ctx, ref)
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, got), key)

		ref, err = s.PutSecret(ctx, key+".secret", data)
		require.NoError(t, err)
		got, err = s.GetRef(ctx, ref)
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, got), key)
	}
	info, err := os.Stat(filepath.Join(dir, "clusters"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

func TestSecretsAreNotReadableOnDisk(t *testing.T) {
	t.Parallel()
	s, dir := open(t)
	_, err := s.PutSecret(t.Context(), "kubeadmin-password", []byte("abcde-fghij"))
	require.NoError(t, err)
	stored, err := os.ReadFile(filepath.Join(dir, "kubeadmin-password"))
	require.NoError(t, err)
	require.NotContains(t, string(stored), "abcde")

	_, err = openAt(t, dir, 2).Get(t.Context(), "kubeadmin-password")
	require.ErrorIs(t, err, encryption.ErrUnknownKey)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "elsewhere"), stored, 0o600))
	_, err = s.Get(t.Context(), "elsewhere")
	require.ErrorIs(t, err, encryption.ErrAuthentication)
}

func TestMissingObjects(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	_, err := s.Get(t.Context(), "nothing/here")
	require.ErrorIs(t, err, model.ErrNotFound)
	_, err = s.Reader(t.Context(), "nothing/here")
	require.ErrorIs(t, err, model.ErrNotFound)
	ok, err := s.Exists(t.Context(), "nothing/here")
	require.NoError(t, err)
	require.False(t, ok)
	require.NoError(t, s.Delete(t.Context(), "nothing/here"))
	require.NoError(t, s.DeletePrefix(t.Context(), "nothing"))
	require.NoError(t, s.Ready(t.Context()))
}

func TestReferenceToAReplacedObjectFails(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	ref, err := s.Put(t.Context(), "a", []byte("one"))
	require.NoError(t, err)
	_, err = s.Put(t.Context(), "a", []byte("two"))
	require.NoError(t, err)
	_, err = s.GetRef(t.Context(), ref)
	require.ErrorIs(t, err, blob.ErrDamaged)
}

func TestKeysThatAreRefused(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	for _, key := range []string{
		"", "/etc/passwd", "../up", "a/../b", "a//b", "a/", ".", "a\\b", "a\x00b", "a\nb", "\xff",
		strings.Repeat("x", 201), strings.Repeat("x/", 600) + "x", "a.187b5f6c1d2e3f40.tmp",
	} {
		_, err := s.Put(t.Context(), key, nil)
		require.ErrorIs(t, err, model.ErrInvalid, "%q", key)
		_, err = s.Get(t.Context(), key)
		require.ErrorIs(t, err, model.ErrInvalid, "%q", key)
		require.ErrorIs(t, s.DeletePrefix(t.Context(), key), model.ErrInvalid, "%q", key)
	}
}

func TestStreams(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	ctx := t.Context()
	log := strings.Repeat("line of a log\n", 200_000)

	w, err := s.Writer(ctx, "logs/host.tar.gz")
	require.NoError(t, err)
	defer w.Abort()
	_, err = io.Copy(w, strings.NewReader(log))
	require.NoError(t, err)
	ok, err := s.Exists(ctx, "logs/host.tar.gz")
	require.NoError(t, err)
	require.False(t, ok, "an object appears when it is complete")
	require.NoError(t, w.Close())

	_, err = s.PutSecret(ctx, "logs/secret", []byte(log))
	require.NoError(t, err)
	for _, key := range []string{"logs/host.tar.gz", "logs/secret"} {
		r, err := s.Reader(ctx, key)
		require.NoError(t, err)
		require.Equal(t, int64(len(log)), r.Size)
		require.False(t, r.ModTime.IsZero())
		got, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		require.Equal(t, log, string(got))
	}
}

// Logs hold what hosts print.
func TestStreamsAreSealed(t *testing.T) {
	t.Parallel()
	s, dir := open(t)
	ctx := t.Context()
	put := func(key, content string) string {
		w, err := s.Writer(ctx, key)
		require.NoError(t, err)
		_, err = io.WriteString(w, content)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return filepath.Join(dir, key)
	}
	read := func(s *blob.Store, key string) (string, error) {
		r, err := s.Reader(ctx, key)
		if err != nil {
			return "", err
		}
		defer r.Close()
		got, err := io.ReadAll(r)
		return string(got), err
	}
	secret := strings.Repeat("hunter2\n", 30_000)
	path := put("logs/a", secret)
	put("logs/b", "another")
	put("logs/empty", "")
	for key, want := range map[string]string{"logs/a": secret, "logs/b": "another", "logs/empty": ""} {
		got, err := read(s, key)
		require.NoError(t, err)
		require.Equal(t, want, got)
		whole, err := s.Get(ctx, key)
		require.NoError(t, err)
		require.Equal(t, want, string(whole))
	}
	stored, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(stored), "hunter2")

	_, err = read(openAt(t, dir, 2), "logs/a")
	require.ErrorIs(t, err, encryption.ErrUnknownKey)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "logs/b"), stored, 0o600))
	_, err = read(s, "logs/b")
	require.ErrorIs(t, err, encryption.ErrAuthentication, "the object of another name")
	require.NoError(t, os.WriteFile(path, stored[:50], 0o600))
	_, err = read(s, "logs/a")
	require.ErrorIs(t, err, blob.ErrDamaged)
	for name, damaged := range map[string][]byte{
		"a byte": append(append(bytes.Clone(stored[:100_000]), stored[100_000]^1), stored[100_001:]...), "its end": stored[:len(stored)-70_000],
	} {
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		got, err := read(s, "logs/a")
		require.Error(t, err, name)
		require.True(t, strings.HasPrefix(secret, got), name)
	}
}

func TestStreamsThatAreGivenUpLeaveTheOldObject(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*blob.Writer, context.CancelFunc) error{
		"by abort":              func(w *blob.Writer, _ context.CancelFunc) error { w.Abort(); return errors.New("given up") },
		"by the end of context": func(w *blob.Writer, cancel context.CancelFunc) error { cancel(); return w.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, dir := open(t)
			_, err := s.Put(t.Context(), "log", []byte("old"))
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			w, err := s.Writer(ctx, "log")
			require.NoError(t, err)
			_, err = w.Write([]byte("\x00s"))
			require.NoError(t, err)
			require.Error(t, end(w, cancel))
			got, err := s.Get(t.Context(), "log")
			require.NoError(t, err)
			require.Equal(t, "old", string(got))
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Len(t, left, 1)
		})
	}
}

func TestListAndDeletePrefix(t *testing.T) {
	t.Parallel()
	s, dir := open(t)
	ctx := t.Context()
	for _, key := range []string{"clusters/1/b", "clusters/1/a/c", "clusters/10/a", "other"} {
		_, err := s.Put(ctx, key, []byte(key))
		require.NoError(t, err)
	}
	// What a writer leaves that is killed between its first byte and its last.
	left := filepath.Join(dir, "clusters/1/b.187b5f6c1d2e3f40.tmp")
	require.NoError(t, os.WriteFile(left, nil, 0o600))
	keys := func(folder string) (keys []string) {
		objects, err := s.List(ctx, folder)
		require.NoError(t, err)
		for _, o := range objects {
			require.Equal(t, int64(len(o.Key)), o.Size)
			keys = append(keys, o.Key)
		}
		return keys
	}
	require.Equal(t, []string{"clusters/1/a/c", "clusters/1/b"}, keys("clusters/1"))
	require.Len(t, keys(""), 4)
	require.NoError(t, s.DeletePrefix(ctx, "clusters/1"))
	require.Equal(t, []string{"clusters/10/a", "other"}, keys(""))
	require.NoFileExists(t, left)
}

func TestConcurrentWritersLeaveOneWholeObject(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() { _, _ = s.Put(t.Context(), "one", bytes.Repeat([]byte{byte('a' + i)}, 1<<20)) })
	}
	wg.Wait()
	got, err := s.Get(t.Context(), "one")
	require.NoError(t, err)
	require.Equal(t, bytes.Repeat(got[:1], 1<<20), got)
}

func TestOpenNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	_, err := blob.Open(t.Context(), "file:///no/such/folder", nil)
	require.ErrorContains(t, err, "/no/such/folder")
	_, err = blob.Open(t.Context(), "gopher://x", nil)
	require.Error(t, err)
}
