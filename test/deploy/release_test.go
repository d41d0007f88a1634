package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// git runs git in a repository.
func git(t *testing.T, repository string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", repository, "-c", "user.name=test", "-c", "user.email=test@example.com"}, args...)...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "git %q: %s", args, out)
	return strings.TrimSpace(string(out))
}

// replace changes a file of a repository.
func replace(t *testing.T, repository, name, before, after string) {
	t.Helper()
	path := filepath.Join(repository, name)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), before)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), before, after, 1)), 0o600))
}

// releasable makes a repository whose last commit is the release 1.2.3.
func releasable(t *testing.T) string {
	t.Helper()
	repository := t.TempDir()
	for name, text := range map[string]string{
		"CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-11-27\n- Added: more.\n\n" +
			"## [1.2.2] - 2026-11-01\n- First.\n",
		"internal/version/version.go": "package version\n\nconst Number = \"1.2.3\"\n",
		"deploy/releases":             "# version, commit, date\n1.2.2 0123456789012345678901234567890123456789 2026-11-01\n",
	} {
		path := filepath.Join(repository, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	script, err := os.ReadFile("../../deploy/release")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(repository, "deploy/release"), script, 0o700)) //nolint:gosec // a program
	git(t, repository, "init", "--quiet")
	git(t, repository, "add", ".")
	git(t, repository, "commit", "--quiet", "--message", "release 1.2.3")
	return repository
}

func TestReleasesAreOfOneCommitAndItsChangelog(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(t *testing.T, repository string)
		says  string // empty: it can be built
	}{
		"a commit with its section": {func(*testing.T, string) {}, ""},
		"the tag of this commit":    {func(t *testing.T, r string) { t.Helper(); git(t, r, "tag", "v1.2.3") }, ""},
		"what is not committed": {
			func(t *testing.T, r string) { t.Helper(); replace(t, r, "CHANGELOG.md", "more", "less") },
			"commit what was changed:  M CHANGELOG.md",
		},
		"a version without a section": {
			func(t *testing.T, r string) {
				t.Helper()
				replace(t, r, "internal/version/version.go", "1.2.3", "1.3.0")
				git(t, r, "commit", "--quiet", "--all", "--message", "next")
			},
			"CHANGELOG.md: require the section of 1.3.0 after [Unreleased], found ## [1.2.3] - 2026-11-27",
		},
		"lines that no version has": {
			func(t *testing.T, r string) {
				t.Helper()
				replace(t, r, "CHANGELOG.md", "## [Unreleased]\n", "## [Unreleased]\n\n- Fixed: late.\n")
				git(t, r, "commit", "--quiet", "--all", "--message", "fix")
			},
			"CHANGELOG.md: [Unreleased] has lines that belong to 1.2.3: - Fixed: late.",
		},
		"a version that was released from another commit": {
			func(t *testing.T, r string) {
				t.Helper()
				replace(t, r, "deploy/releases", "1.2.2 0123", "1.2.3 0123")
				git(t, r, "commit", "--quiet", "--all", "--message", "list")
			},
			"1.2.3 was released from 0123456789012345678901234567890123456789, this is ",
		},
		"the tag of another commit": {
			func(t *testing.T, r string) {
				t.Helper()
				git(t, r, "tag", "--annotate", "--message", "1.2.3", "v1.2.3")
				git(t, r, "commit", "--quiet", "--allow-empty", "--message", "later")
			},
			"the tag v1.2.3 is on ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repository := releasable(t)
			c.spoil(t, repository)
			cmd := exec.Command(filepath.Join(repository, "deploy/release"))
			cmd.Dir, cmd.Env = repository, append(os.Environ(), "CHECK=1")
			out, err := cmd.CombinedOutput()
			if c.says == "" {
				require.NoError(t, err, "%s", out)
				require.Equal(t, "release: 1.2.3 can be built from "+git(t, repository, "rev-parse", "HEAD")+"\n", string(out))
				return
			}
			require.Error(t, err)
			require.Contains(t, string(out), "release: "+c.says)
		})
	}
}

// The list of released versions agrees with the history, where there is one.
func TestReleasedVersionsAreInTheHistory(t *testing.T) {
	t.Parallel()
	top := "../.."
	if shallow, err := exec.Command("git", "-C", top, "rev-parse", "--is-shallow-repository").Output(); err != nil ||
		strings.TrimSpace(string(shallow)) != "false" {
		t.Skip("SKIP: this test needs a clone that is not shallow")
	}
	list, err := os.ReadFile(filepath.Join(top, "deploy/releases"))
	require.NoError(t, err)
	listed := 0
	for line := range strings.Lines(string(list)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		require.Len(t, fields, 3, line)
		version, commit, date := fields[0], fields[1], fields[2]
		git(t, top, "merge-base", "--is-ancestor", commit, "HEAD")
		require.Contains(t, git(t, top, "show", commit+":CHANGELOG.md"), "\n## ["+version+"] - "+date+"\n")
		listed++
	}
	require.Positive(t, listed)
}
