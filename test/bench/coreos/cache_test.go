package coreos_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/test/bench/coreos"
)

// log is written to by builders at once.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// step runs a script of the package that needs nothing: it fills a menu.
func step(settings map[string]string) coreos.Step {
	return coreos.Step{Name: "test", Script: "test.sh", Settings: settings}
}

func TestKeyChangesWithWhateverAnArtifactIsMadeOf(t *testing.T) {
	t.Parallel()
	base := coreos.Step{
		Name:     "a",
		Script:   "iso.sh",
		Files:    []string{"iso"},
		Settings: map[string]string{"LABEL": "x"},
		Needs:    map[string]coreos.Step{"KERNEL": {Name: "k", Script: "kernel.sh"}},
	}
	key := func(change func(*coreos.Step)) string {
		s := base
		change(&s)
		text, err := s.Key()
		require.NoError(t, err)
		return text
	}
	same := key(func(*coreos.Step) {})
	require.Equal(t, same, key(func(*coreos.Step) {}))
	require.True(t, strings.HasPrefix(same, "a-"))
	for name, change := range map[string]func(*coreos.Step){
		"another name":    func(s *coreos.Step) { s.Name = "b" },
		"another script":  func(s *coreos.Step) { s.Script = "root.sh" },
		"other files":     func(s *coreos.Step) { s.Files = []string{"initramfs"} },
		"another setting": func(s *coreos.Step) { s.Settings = map[string]string{"LABEL": "y"} },
		"an older kernel": func(s *coreos.Step) {
			s.Needs = map[string]coreos.Step{"KERNEL": {Name: "k", Script: "kernel.sh", Settings: map[string]string{"VERSION": "1"}}}
		},
		"needs under a new name": func(s *coreos.Step) { s.Needs = map[string]coreos.Step{"OTHER": {Name: "k", Script: "kernel.sh"}} },
	} {
		require.NotEqual(t, same, key(change), name)
	}
	_, err := coreos.Step{Name: "a", Script: "none.sh"}.Key()
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestBuildersAtOnceBuildOnce(t *testing.T) {
	t.Parallel()
	var said log
	cache := coreos.Cache{Dir: t.TempDir(), Log: &said}
	var builders sync.WaitGroup
	dirs := make([]string, 4)
	for i := range dirs {
		builders.Go(func() {
			dir, err := cache.Make(context.Background(), step(map[string]string{"TEXT": "one"}))
			if err == nil {
				dirs[i] = dir
			}
		})
	}
	builders.Wait()
	for _, dir := range dirs {
		require.Equal(t, dirs[0], dir)
		content, err := os.ReadFile(filepath.Join(dir, "text"))
		require.NoError(t, err)
		require.Equal(t, "one\n", string(content))
	}
	require.Equal(t, 1, strings.Count(said.text.String(), "built "), said.text.String())
}

func TestFailedBuildLeavesNothingAndSaysWhy(t *testing.T) {
	t.Parallel()
	cache := coreos.Cache{Dir: t.TempDir(), Log: &log{}}
	_, err := cache.Make(t.Context(), step(map[string]string{"TEXT": "", "FAIL": "no such mirror"}))
	require.ErrorContains(t, err, "build test")
	require.ErrorContains(t, err, "no such mirror")
	made, err := filepath.Glob(filepath.Join(cache.Dir, "test-*"))
	require.NoError(t, err)
	require.Empty(t, made)
}

func TestArtifactsThatNobodyUsesAreRemoved(t *testing.T) {
	t.Parallel()
	cache := coreos.Cache{Dir: t.TempDir(), Log: &log{}}
	old, err := cache.Make(t.Context(), step(map[string]string{"TEXT": "old"}))
	require.NoError(t, err)
	used, err := cache.Make(t.Context(), step(map[string]string{"TEXT": "used"}))
	require.NoError(t, err)
	long := time.Now().Add(-100 * 24 * time.Hour)
	require.NoError(t, os.Chtimes(old, long, long))
	require.NoError(t, os.Chtimes(used, long, long))
	_, err = cache.Make(t.Context(), step(map[string]string{"TEXT": "used"}))
	require.NoError(t, err)
	_, err = cache.Make(t.Context(), step(map[string]string{"TEXT": "new"}))
	require.NoError(t, err)
	require.NoDirExists(t, old)
	require.DirExists(t, used)
}

func TestNothingIsFoundBeforeItIsBuilt(t *testing.T) {
	t.Parallel()
	_, err := coreos.Find(t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)
}
