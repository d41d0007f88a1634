package version_test

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/version"
)

func TestBuildIDSaysWhichCommitWasBuilt(t *testing.T) {
	t.Parallel()
	build := &debug.BuildInfo{}
	require.Equal(t, version.Number, version.From(build).BuildID(), "a build without version control")
	build.Settings = []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.time", Value: "2026-11-23T03:04:05+02:00"},
	}
	require.Equal(t, version.Number+"+20261123010405.g0123456789ab", version.From(build).BuildID())
	build.Settings = append(build.Settings, debug.BuildSetting{Key: "vcs.modified", Value: "true"})
	id := version.From(build).BuildID()
	require.Equal(t, version.Number+"+20261123010405.g0123456789ab.modified", id)
	require.NoError(t, version.CheckBuildID(id))
}

func TestBuildsHaveAnOrder(t *testing.T) {
	t.Parallel()
	oldestFirst := []string{
		"blue",
		"0.1.0-rc.1",
		"0.1.0",
		"0.1.0+9",
		"0.1.0+10",
		"0.1.0+20261122235959.gffffffffffff",
		"0.1.0+20261123010405.g000000000012",
		"0.1.0+20261123010405.g000000000012.modified",
		"0.2.0",
		"0.10.0+20251123010405.gaaaaaaaaaaaa",
	}
	for i, a := range oldestFirst {
		for j, b := range oldestFirst {
			require.Equal(t, i > j, version.Newer(a, b), "%s is newer than %s", a, b)
		}
	}
}

func TestABuildIDWithoutAnOrderIsRefused(t *testing.T) {
	t.Parallel()
	require.NoError(t, version.CheckBuildID("0.1.0+20261123.1"))
	for _, id := range []string{"", "blue", "v0.1.0", "0.1", "0.1.0+a b"} {
		require.EqualError(t, version.CheckBuildID(id), `require a semantic version such as 0.1.0+20261123.1, found "`+id+`"`)
	}
}
