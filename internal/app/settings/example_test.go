package settings

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The example changes nothing as it is, and a start reads it when all of its lines are taken.
func TestExampleHasAllSettingsAndChangesNone(t *testing.T) {
	var text strings.Builder
	require.NoError(t, Example(&text))
	for _, line := range strings.Split(text.String(), "\n") {
		require.True(t, line == "" || strings.HasPrefix(line, "#"), line)
		require.LessOrEqual(t, len(line), 140)
	}
	for _, name := range []string{"listen", "database-url", "auth-type", "image-dir", "DELETED_INACTIVE_AFTER", "HOST_MONITOR_INTERVAL"} {
		require.Equal(t, 1, strings.Count(text.String(), "\n#"+name+":"), name)
	}
	require.Contains(t, text.String(), "\n#nvidia-require-gpu: true\n")
	require.Regexp(t, `(?m)^# Address the API listens on\.\n#listen: 127\.0\.0\.1:8090$`, text.String())

	all := regexp.MustCompile(`(?m)^#([A-Za-z_-]+: \S.*)$`).ReplaceAllString(text.String(), "$1")
	require.Contains(t, all, "\ndecision-timeout: 24h\n")
	line, _, sources, err := parse(t, all, environment{}, "up")
	require.NoError(t, err, all)
	plain, _, none, err := parse(t, "", environment{}, "up")
	require.NoError(t, err)
	require.Equal(t, plain.Up, line.Up)
	got, err := ReadVariables(sources.Variables())
	require.NoError(t, err, all)
	want, err := ReadVariables(none.Variables())
	require.NoError(t, err)
	require.Equal(t, want, got)
}
