package app

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/contrib/envconfig"

	"slipway/internal/app/process"
	"slipway/internal/app/settings"
	usercli "slipway/internal/cli"
)

// model returns the command line, parsed up to its flags.
func model(t *testing.T) *kong.Kong {
	t.Helper()
	parser, err := kong.New(&cli{}, append(usercli.Options(),
		kong.Bind(&settings.Sources{Env: envconfig.EnvLookupOS}), kong.Vars{"version": ""}, kong.Exit(func(int) {}))...)
	require.NoError(t, err)
	return parser
}

// variablesOf lists the variables that flags and arguments of all commands read.
func variablesOf(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	require.NoError(t, kong.Visit(model(t).Model, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			for _, name := range flag.Envs {
				names[name] = true
			}
		}
		return next(nil)
	}))
	return names
}

// values returns the values of all flags that the environment can set, with no arguments at all.
func values(t *testing.T) map[string]any {
	t.Helper()
	parser, all := model(t), map[string]any{}
	require.NoError(t, kong.Visit(parser.Model, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok && len(flag.Envs) > 0 {
			if err := flag.Reset(); err != nil {
				return err
			}
			all[parser.Model.Name+" --"+flag.Name+" "+strings.Join(flag.Envs, ",")] = flag.Target.Interface()
		}
		return next(nil)
	}))
	return all
}

// Each variable of each flag is of the kind, the ones to come too.
func TestEmptyVariablesAreAsUnset(t *testing.T) {
	names := variablesOf(t)
	require.Contains(t, names, "SLIPWAY_CONFIG")
	require.Contains(t, names, "SLIPWAY_HEARTBEAT")
	for name := range names {
		t.Setenv(name, "kept") // restored at the end
		require.NoError(t, os.Unsetenv(name))
	}
	unset := values(t)
	require.Greater(t, len(unset), 50)
	for _, empty := range []string{"", " \t"} {
		for name := range names {
			require.NoError(t, os.Setenv(name, empty)) //nolint:usetesting // set again in the loop
		}
		require.Equal(t, unset, values(t))
	}
}

func TestAnEmptyVariableNamesNoFileOfContexts(t *testing.T) {
	t.Setenv("SLIPWAY_CONFIG", "")
	t.Setenv("SLIPWAY_DATA_DIR", "")
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	require.NoError(t, os.MkdirAll(filepath.Join(home, "slipway"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, "slipway", "config"),
		[]byte("current-context: mine\ncontexts: [{name: mine, server: 'https://192.0.2.7:8090', token: t}]\n"), 0o600))
	code, out, errs := typed(t, "context", "list")
	require.Zero(t, code, errs)
	require.Contains(t, out, "mine")
	code, out, errs = typed(t, "context", "token")
	require.Zero(t, code, errs)
	require.Equal(t, "t\n", out)
}

// A variable that is passed on empty does not hide the file.
func TestAnEmptyVariableLeavesTheSettingOfTheFile(t *testing.T) {
	t.Setenv("SLIPWAY_LISTEN", "")
	t.Setenv("SLIPWAY_HEARTBEAT", "")
	t.Setenv("DELETED_INACTIVE_AFTER", "")
	path := filepath.Join(t.TempDir(), "slipway.yaml")
	require.NoError(t, os.WriteFile(path, []byte("listen: 192.0.2.7:8090\nDELETED_INACTIVE_AFTER: 240h\n"), 0o600))
	t.Setenv("SLIPWAY_CONFIG_FILE", path)
	code, out, errs := typed(t, "config", "show")
	require.Zero(t, code, errs)
	require.Regexp(t, `(?m)^listen +192\.0\.2\.7:8090 +`+path+`$`, out)
	require.Regexp(t, `(?m)^heartbeat +3m0s +default$`, out)
	require.Regexp(t, `(?m)^DELETED_INACTIVE_AFTER +240h +`+path+`$`, out)
}

// typed runs a command in this process.
func typed(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p := &process.Process{Stdout: &stdout, Stderr: &stderr, Env: envconfig.EnvLookupOS, Now: time.Now}
	code = Main(t.Context(), p, args)
	return code, stdout.String(), stderr.String()
}
