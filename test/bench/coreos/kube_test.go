package coreos_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/test/bench/coreos"
)

func TestKeyIsTheSameWhereverSourcesAre(t *testing.T) {
	t.Parallel()
	one := step(map[string]string{"TEXT": "one"})
	key, err := one.Key()
	require.NoError(t, err)
	one.Paths = map[string]string{"SOURCE": "/somewhere"}
	moved, err := one.Key()
	require.NoError(t, err)
	require.Equal(t, key, moved)
}

func TestScriptsAreToldPaths(t *testing.T) {
	t.Parallel()
	cache := coreos.Cache{Dir: t.TempDir(), Log: &log{}}
	made := step(nil)
	made.Paths = map[string]string{"TEXT": "/somewhere"}
	dir, err := cache.Make(t.Context(), made)
	require.NoError(t, err)
	content, err := os.ReadFile(filepath.Join(dir, "text"))
	require.NoError(t, err)
	require.Equal(t, "/somewhere\n", string(content))
}

func TestArchiveOfOtherSourcesIsNotFound(t *testing.T) {
	t.Parallel()
	cache, source := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(source, "go.mod"), []byte("module one\n"), 0o600))
	_, err := coreos.FindKube(cache, coreos.KubeOptions{Source: source})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = coreos.FindKube(cache, coreos.KubeOptions{Source: filepath.Join(source, "none")})
	require.ErrorIs(t, err, os.ErrNotExist)
}
