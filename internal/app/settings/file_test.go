package settings

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

// Environ implements envconfig.EnvLookup.
func (v environment) Environ() (all []string) {
	for name, value := range v {
		all = append(all, name+"="+value)
	}
	return all
}

// commandLine is slipway up with its log.
type commandLine struct {
	Log Log          `embed:"" prefix:"log-"`
	Up  struct{ Up } `cmd:""`
	Me  struct {
		DecisionTimeout string
	} `cmd:"" help:"A command of users, which reads no file."`
}

// parse reads a command line with a file of settings. It sets the variables of env in the process too, which kong reads.
func parse(t *testing.T, file string, env environment, args ...string) (*commandLine, *kong.Context, *Sources, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "slipway.yaml")
	require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
	for name, value := range env {
		t.Setenv(name, value)
	}
	var line commandLine
	s := &Sources{Env: env, Default: path}
	parser, err := kong.New(&line, kong.Name("slipway"), kong.Bind(s))
	require.NoError(t, err)
	ctx, err := parser.Parse(args)
	return &line, ctx, s, err
}

func TestFlagsWinOverVariablesAndVariablesOverTheFile(t *testing.T) {
	file := `
listen: 192.0.2.7:8090
heartbeat: 5m            # and a flag
decision-timeout: 48h    # and a variable
allowed-hosts: [slipway.example.com, 192.0.2.7]
installer-env: [A=1, B=2]
plain-http: true
single-node-dns: false
max-connections: 300
workflow-retention: 240h
log-level: debug
release-images:
  - {openshift_version: "4.20", url: registry.example.com/release}
DELETED_INACTIVE_AFTER: 240h
DISABLED_STEPS: [verify-vips, ntp-synchronizer]
TEMPORAL_NAMESPACE: site
`
	env := environment{"SLIPWAY_DECISION_TIMEOUT": "12h", "DELETED_UNREGISTERED_AFTER": "1h"}
	line, _, s, err := parse(t, file, env, "up", "--heartbeat", "7m")
	require.NoError(t, err)
	up := line.Up
	require.Equal(t, "192.0.2.7:8090", up.Listen)
	require.Equal(t, "7m0s", up.Heartbeat.String())
	require.Equal(t, "12h0m0s", up.DecisionTimeout.String())
	require.Equal(t, []string{"slipway.example.com", "192.0.2.7"}, up.AllowedHosts)
	require.Equal(t, []string{"A=1", "B=2"}, up.InstallerEnvironment, "its separator is a semicolon")
	require.True(t, up.PlainHTTP)
	require.False(t, up.SingleNodeDNS)
	require.Equal(t, 300, up.Max)
	require.Equal(t, "240h0m0s", up.Retention.String())
	require.Equal(t, "DEBUG", line.Log.Level.String())
	require.JSONEq(t, `[{"openshift_version":"4.20","url":"registry.example.com/release"}]`, up.ReleaseImages)
	require.Equal(t, "/var/lib/slipway", up.DataDir, "a default stays")

	got, err := ReadVariables(s.Variables())
	require.NoError(t, err)
	require.Equal(t, "240h0m0s", got.InactiveAfter.String())
	require.Equal(t, "1h0m0s", got.DeletedAfter.String())
	require.Equal(t, []string{"verify-vips", "ntp-synchronizer"}, got.DisabledSteps)
	require.Contains(t, s.Variables().Environ(), "TEMPORAL_NAMESPACE=site")
	namespace, found := s.Variables().LookupEnv("TEMPORAL_NAMESPACE")
	require.True(t, found)
	require.Equal(t, "site", namespace)
}

func TestFilesThatCannotBeMeantAreRefused(t *testing.T) {
	for name, test := range map[string]struct{ file, want string }{
		"a misspelled flag": {
			"decision-timout: 1h\n", `line 1: require the name of a setting, found "decision-timout" (did you mean decision-timeout?)`,
		},
		"a misspelled variable": {
			"\nDELETED_INACTIV_AFTER: 1h", `line 2: require the name of a setting, found "DELETED_INACTIV_AFTER" (did you mean DELETED_INACTIVE_AFTER?)`,
		},
		"what is near nothing":      {"color: blue", `require the name of a setting, found "color"`},
		"two at once, first":        {"color: blue\nlisten: \n", `found "color"`},
		"two at once, second":       {"color: blue\nlisten: \n", "line 2: listen requires a value"},
		"a name twice":              {"listen: a:1\nlisten: b:2", "line 2: listen is set twice"},
		"a list":                    {"- listen", "require names of settings with their values"},
		"no YAML":                   {"listen: [", "yaml"},
		"the file itself":           {"config: other.yaml", `found "config"`},
		"a value that does not fit": {"decision-timeout: soon", `--decision-timeout: expected duration`},
		"a list of lists":           {"allowed-hosts: [[a]]", "line 1: require a list of texts"},
		"a wrong choice":            {"auth-type: open", "--auth-type must be one of"},
	} {
		_, _, _, err := parse(t, test.file, environment{}, "up")
		require.ErrorContains(t, err, test.want, name)
	}
}

func TestVariableNamesTheFile(t *testing.T) {
	named := filepath.Join(t.TempDir(), "named.yaml")
	require.NoError(t, os.WriteFile(named, []byte("listen: 192.0.2.9:1\n"), 0o600))
	line, _, s, err := parse(t, "listen: 192.0.2.7:1\n", environment{"SLIPWAY_CONFIG_FILE": named}, "up")
	require.NoError(t, err)
	require.Equal(t, "192.0.2.9:1", line.Up.Listen)
	require.Equal(t, named, s.File.Path)
}

func TestFilesThatMayBeMissing(t *testing.T) {
	t.Parallel()
	var line commandLine
	missing := filepath.Join(t.TempDir(), "none.yaml")
	parser, err := kong.New(&line, kong.Name("slipway"), kong.Bind(&Sources{Env: environment{}, Default: missing}))
	require.NoError(t, err)
	_, err = parser.Parse([]string{"up"})
	require.NoError(t, err)
	_, err = parser.Parse([]string{"up", "--config", missing})
	require.ErrorContains(t, err, "no such file")
}

func TestFilesWithSecretsAreForTheirOwner(t *testing.T) {
	t.Parallel()
	for file, refused := range map[string]bool{"database-url: postgres://u:p@db/x\n": true, "listen: a:1\n": false} {
		path := filepath.Join(t.TempDir(), "slipway.yaml")
		require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
		require.NoError(t, os.Chmod(path, 0o644))
		_, err := readFile(path, environment{}, flags())
		if refused {
			require.ErrorContains(t, err, "require a file that other users cannot read, because it has database-url, found mode 0644")
			require.NoError(t, os.Chmod(path, 0o640))
			_, err = readFile(path, environment{}, flags())
		}
		require.NoError(t, err)
	}
}

func TestCommandsOfUsersReadNoFile(t *testing.T) {
	line, _, s, err := parse(t, "decision-timeout: 48h\ncolor: blue\n", environment{}, "me")
	require.NoError(t, err)
	require.Empty(t, line.Me.DecisionTimeout)
	require.Nil(t, s.File)
}

func TestMisspelledVariablesAreRefused(t *testing.T) {
	_, _, _, err := parse(t, "", environment{"SLIPWAY_DECISION_TIMOUT": "1h"}, "up")
	require.ErrorContains(t, err, "read SLIPWAY_DECISION_TIMOUT: there is no such setting (did you mean SLIPWAY_DECISION_TIMEOUT?)")
	others := environment{"SLIPWAY_SITE_INVENTORY": "x", "SLIPWAY_TOKEN": "t", "SLIPWAY_CONFIG": "c", "DECISION_TIMOUT": "x"}
	_, _, _, err = parse(t, "", others, "up")
	require.NoError(t, err, "of programs beside the service")
}

func TestSettingsAreShownWithTheirOrigins(t *testing.T) {
	file := "heartbeat: 5m\ndatabase-url: postgres://u:hush@db/slipway\noidc-client-secret: hush\nHOST_MONITOR_INTERVAL: 9s\n"
	env := environment{"SLIPWAY_DECISION_TIMEOUT": "12h", "DELETION_WORKER_INTERVAL": "2m"}
	_, ctx, s, err := parse(t, file, env, "up", "--listen", "192.0.2.7:1")
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, Show(&out, ctx, s))
	for _, want := range []string{
		`\nlisten +192.0.2.7:1 +flag --listen\n`, `\nheartbeat +5m0s +` + s.Default + `\n`,
		`\ndecision-timeout +12h0m0s +variable SLIPWAY_DECISION_TIMEOUT\n`, `\ndata-dir +/var/lib/slipway +default\n`,
		`\ndatabase-url +postgres://u:xxxxx@db/slipway +` + s.Default, `\noidc-client-secret +\(secret\) +` + s.Default,
		`\nHOST_MONITOR_INTERVAL +9s +` + s.Default, `\nDELETION_WORKER_INTERVAL +2m +variable DELETION_WORKER_INTERVAL\n`,
		`\nlog-level +INFO +default`, `\nHOST_STAGE_REBOOTING_TIMEOUT +\S+ +default`,
	} {
		require.Regexp(t, want, out.String())
	}
	require.NotContains(t, out.String(), "hush")
}
