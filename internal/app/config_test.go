package app

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/contrib/envconfig"

	"slipway/internal/app/process"
)

func TestSettingsOfAFileAreShownAndMisspelledOnesStopEachCommand(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "slipway.yaml")
	run := func(file string, args ...string) (code int, out, errs string) {
		require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
		var stdout, stderr bytes.Buffer
		p := &process.Process{Stdout: &stdout, Stderr: &stderr, Env: envconfig.EnvLookupOS, Now: time.Now}
		code = Main(t.Context(), p, append(args, "--config", path))
		return code, stdout.String(), stderr.String()
	}
	code, out, errs := run("listen: 192.0.2.7:8090\n", "config", "show")
	require.Zero(t, code, errs)
	require.Regexp(t, `(?m)^listen +192\.0\.2\.7:8090 +`+path+`$`, out)
	for _, command := range [][]string{{"up"}, {"api"}, {"worker"}, {"images", "serve"}, {"migrate"}, {"keys", "list"}, {"config", "show"}} {
		code, _, errs := run("lisen: 192.0.2.7:8090\n", command...)
		require.NotZero(t, code, command)
		require.Contains(t, errs, `line 1: require the name of a setting, found "lisen" (did you mean listen?)`, command)
	}
}

func TestSettingsAreCheckedAsAStartWould(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "slipway.yaml")
	run := func(args ...string) (code int, out, errs string) {
		var stdout, stderr bytes.Buffer
		p := &process.Process{Stdout: &stdout, Stderr: &stderr, Env: envconfig.EnvLookupOS, Now: time.Now}
		code = Main(t.Context(), p, append([]string{"config"}, args...))
		return code, stdout.String(), stderr.String()
	}
	_, example, _ := run("example")
	require.NoError(t, os.WriteFile(path, []byte(example), 0o600))
	code, out, errs := run("check", "--config", path)
	require.Zero(t, code, errs)
	require.Equal(t, "settings are in order: flags and variables, and "+path+"\n", out)
	for line, want := range map[string]string{
		"heartbeat: 3s":           "read --heartbeat: require a duration of at least 15s, found 3s",
		"listen: 192.0.2.2":       "read --listen: address 192.0.2.2: missing port in address",
		"release-images: nothing": "RELEASE_IMAGES",
		"build-id: blue":          "read WORKER_BUILD_ID: require a semantic version",
		"mirror-ca: /no/file":     "/no/file: no such file or directory",
	} {
		require.NoError(t, os.WriteFile(path, []byte(line+"\n"), 0o600))
		code, _, errs := run("check", "--config", path)
		require.NotZero(t, code, line)
		require.Contains(t, errs, want, line)
	}
}
