package histories_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/histories"
)

func TestHistoriesOfReleasedVersionsAreThoseThatWereCommitted(t *testing.T) {
	t.Parallel()
	changelog, err := os.ReadFile("../../../CHANGELOG.md")
	require.NoError(t, err)
	versions := histories.Released(string(changelog))
	require.NotEmpty(t, versions)
	for _, version := range versions {
		err := histories.CheckCommits(t.Context(), "../../..", replay+"/"+version, version)
		if errors.Is(err, histories.ErrNoHistory) {
			t.Skip("SKIP: histories are compared with their SHA256SUMS only: " + err.Error())
		}
		require.NoError(t, err)
	}
}

// repository is one in which version 1.0 is released with two histories, and gets a third later.
type repository struct {
	t   *testing.T
	top string
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	r := &repository{t: t, top: t.TempDir()}
	r.git("init", "-q")
	r.commit("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n")
	r.commit("replay/1.0/a.json", "recorded too early")
	r.commit("replay/1.0/a.json", "a")
	r.commit("replay/1.0/b.json", "b")
	r.commit("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n\n## [1.0] - 2026-11-22\n")
	r.commit("replay/1.0/c.json", "c")
	return r
}

func (r *repository) git(args ...string) {
	r.t.Helper()
	settings := []string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"}
	cmd := exec.Command("git", slices.Concat(settings, args)...)
	cmd.Dir, cmd.Env = r.top, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	require.NoError(r.t, err, "git %v\n%s", args, out)
}

func (r *repository) commit(path, text string) {
	r.t.Helper()
	write(r.t, filepath.Join(r.top, path), text)
	r.git("add", "-A")
	r.git("commit", "-q", "-m", path)
}

// pack replaces a file by a packed one, by gzip(1).
func (r *repository) pack(path, text string) {
	r.t.Helper()
	write(r.t, filepath.Join(r.top, path), text)
	out, err := exec.CommandContext(r.t.Context(), "gzip", "-n", filepath.Join(r.top, path)).CombinedOutput()
	require.NoError(r.t, err, "%s", out)
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "packed")
}

func (r *repository) check() error {
	return histories.CheckCommits(r.t.Context(), r.top, "replay/1.0", "1.0")
}

func TestCommittedHistoriesOfAReleaseAreKept(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIP: git is not installed")
	}
	const (
		changed = " was committed with another content"
		missing = " was committed and is missing"
	)
	for name, tc := range map[string]struct {
		do   func(*repository)
		want string // none: no error
	}{
		"what was released, and what came later, is there": {func(*repository) {}, ""},
		"a history of the release is changed, with its digest": {
			func(r *repository) { r.commit("replay/1.0/a.json", "another") }, "replay/1.0/a.json" + changed,
		},
		"it is changed in the checkout only": {
			func(r *repository) { write(r.t, filepath.Join(r.top, "replay/1.0/b.json"), "another") }, "replay/1.0/b.json" + changed,
		},
		"one that came later is changed": {
			func(r *repository) { r.commit("replay/1.0/c.json", "another") }, "replay/1.0/c.json" + changed,
		},
		"one is deleted": {
			func(r *repository) { r.git("rm", "-q", "replay/1.0/b.json"); r.git("commit", "-q", "-m", "gone") }, "replay/1.0/b.json" + missing,
		},
		"one is renamed": {
			func(r *repository) {
				r.git("mv", "replay/1.0/b.json", "replay/1.0/z.json")
				r.git("commit", "-q", "-m", "moved")
			},
			"replay/1.0/b.json" + missing,
		},
		"one is deleted and recorded again": {
			func(r *repository) {
				r.git("rm", "-q", "replay/1.0/c.json")
				r.git("commit", "-q", "-m", "gone")
				r.commit("replay/1.0/c.json", "again")
			}, "replay/1.0/c.json" + changed,
		},
		"a change is reverted": {
			func(r *repository) { r.commit("replay/1.0/a.json", "another"); r.commit("replay/1.0/a.json", "a") }, "",
		},
		"one is packed": {
			func(r *repository) {
				r.pack("replay/1.0/a.json", "a")
				r.pack("replay/1.0/c.json", "c")
			}, "",
		},
		"one is packed with another content": {
			func(r *repository) { r.pack("replay/1.0/b.json", "another") }, "replay/1.0/b.json" + changed,
		},
		"the next version is recorded": {func(r *repository) { r.commit("replay/1.1/a.json", "another") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			tc.do(r)
			if err := r.check(); tc.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tc.want)
			}
		})
	}
	t.Run("a shallow clone says that it cannot tell", func(t *testing.T) {
		t.Parallel()
		r := newRepository(t)
		shallow := filepath.Join(t.TempDir(), "shallow")
		r.git("clone", "-q", "--depth", "1", "file://"+r.top, shallow)
		require.ErrorIs(t, histories.CheckCommits(t.Context(), shallow, "replay/1.0", "1.0"), histories.ErrNoHistory)
		require.ErrorIs(t, histories.CheckCommits(t.Context(), t.TempDir(), "replay/1.0", "1.0"), histories.ErrNoHistory)
	})
}
