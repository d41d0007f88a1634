package version_test

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/version"
)

func TestVersionNamesTheCommitOnlyWhenTheBuildKnowsIt(t *testing.T) {
	t.Parallel()
	build := &debug.BuildInfo{GoVersion: "go1.26.0"}
	plain := version.From(build)
	require.Equal(t, version.Number, plain.Short())
	require.Equal(t, version.Number+" (go1.26.0)", plain.String())
	build.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.modified", Value: "true"}}
	changed := version.From(build)
	require.Equal(t, version.Number+" 0123456789ab modified", changed.Short())
	require.Equal(t, version.Number+" (commit 0123456789ab modified, go1.26.0)", changed.String())
	require.Equal(t, version.Number, version.Read().Version)
}

func TestChangelogHasASectionForTheVersion(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../CHANGELOG.md")
	require.NoError(t, err)
	require.Contains(t, string(text), "## ["+version.Number+"]")
}
