package histories_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/histories"
)

// replay is the folder of the recorded histories, from the top of the repository.
const replay = "workflows/testdata/replay"

func TestRecordedHistoriesAreThoseThatWereListed(t *testing.T) {
	t.Parallel()
	require.NoError(t, histories.Check("../../../"+replay))
}

// sumOfOne is the sum of the text "one\n", by sha256sum of coreutils.
const sumOfOne = "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806"

func TestCheckFindsWhatIsNotAsListed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		files map[string]string
		want  string // none: no error
	}{
		"nothing when files and list agree": {map[string]string{"1.0/a.json": "one\n", "1.0/SHA256SUMS": sumOfOne + "  a.json\n"}, ""},
		"a changed file": {
			map[string]string{"1.0/a.json": "two\n", "1.0/SHA256SUMS": sumOfOne + "  a.json\n"},
			"1.0/a.json has changed: a recorded history stays as it was recorded",
		},
		"a missing file":      {map[string]string{"1.0/SHA256SUMS": sumOfOne + "  a.json\n"}, "1.0/a.json is listed in SHA256SUMS and missing"},
		"a file too many":     {map[string]string{"1.0/a.json": "one\n", "1.0/SHA256SUMS": ""}, "1.0/a.json is not listed in SHA256SUMS"},
		"a folder with none":  {map[string]string{"1.0/a.json": "one\n"}, "1.0/SHA256SUMS: no such file"},
		"a file of no folder": {map[string]string{"a.json": "one\n"}, "a.json is in no folder of a release"},
		"a list of nonsense":  {map[string]string{"1.0/SHA256SUMS": "a.json\n"}, "require digest, two blanks and name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for path, text := range tc.files {
				write(t, filepath.Join(root, path), text)
			}
			if err := histories.Check(root); tc.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tc.want)
			}
		})
	}
}

func TestRecorderWritesNothingTwiceAndNothingIntoAReleasedVersion(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	versions := histories.Released("# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-11-22\n")
	require.Equal(t, []string{"0.1.0"}, versions)
	_, err := histories.NewRecorder(root, "0.1.0", versions)
	require.ErrorContains(t, err, "version 0.1.0 is released")
	require.ErrorContains(t, err, "name the next version with RELEASE")
	for _, bad := range []string{"", ".", "..", "a/b", "../0.2.0"} {
		_, err := histories.NewRecorder(root, bad, versions)
		require.ErrorContains(t, err, "require a version such as 0.2.0", bad)
	}
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	require.Empty(t, entries)

	r, err := histories.NewRecorder(root, "0.2.0", versions)
	require.NoError(t, err)
	require.NoError(t, r.Write("b.json", []byte("two\n")))
	require.NoError(t, r.Write("a.json", []byte("one\n")))
	require.NoError(t, histories.Check(root))
	err = r.Write("a.json", []byte("three\n"))
	require.ErrorContains(t, err, "a.json.gz exists, and a recorded history is never written over")
	unpacked, err := exec.CommandContext(t.Context(), "gzip", "-dc", filepath.Join(root, "0.2.0", "a.json.gz")).Output()
	require.NoError(t, err)
	require.Equal(t, "one\n", string(unpacked))
	sums, err := os.ReadFile(filepath.Join(root, "0.2.0", "SHA256SUMS"))
	require.NoError(t, err)
	require.Equal(t, sumOfOne+"  a.json\n27dd8ed44a83ff94d557f9fd0412ed5a8cbca69ea04922d88c01184a07300a5a  b.json\n", string(sums))

	again, err := histories.NewRecorder(root, "0.2.0", versions)
	require.NoError(t, err, "a release takes more histories until it is out")
	require.NoError(t, again.Write("c.json", []byte("c")))
	require.NoError(t, histories.Check(root))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}
