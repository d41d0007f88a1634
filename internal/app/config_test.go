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
