package clients_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
	"slipway/internal/wire"
	"slipway/test/built"
)

// aicli returns the program, put into the cache by `make test-clients`.
func aicli(t *testing.T) string {
	t.Helper()
	path := os.Getenv("AICLI")
	if _, err := os.Stat(path); path == "" || err != nil {
		t.Skip("SKIP: this test needs aicli (make test-clients installs it)")
	}
	return path
}

// TestAicliWorksUnmodified plays testdata/*.txtar: aicli defines clusters, gives commands and installs a single node on a
// simulated machine; the generated Python client that comes with it installs three masters.
func TestAicliWorksUnmodified(t *testing.T) {
	program, tool := built.Binary(t), aicli(t)
	address := built.FreeAddress(t)
	// Its cluster is in FIPS mode; this machine is not.
	dataDir := built.StartDemo(t, program, address, "INSTALLER_ENVIRONMENT=OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION=true")
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			dirs := []string{filepath.Dir(tool), filepath.Dir(program), os.Getenv("PATH")}
			env.Setenv("PATH", strings.Join(dirs, string(os.PathListSeparator)))
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("AI_URL", "https://"+address)
			env.Setenv("AI_TOKEN", userToken(t, dataDir, filepath.Base(env.WorkDir)))
			env.Setenv("SLIPWAY_DATA_DIR", dataDir)
			env.Setenv("URL", "https://"+address+"/api/assisted-install")
			pids := filepath.Join(env.WorkDir, "pids")
			stop := context.AfterFunc(await.Context(t), func() { built.EndListed(t, pids) })
			env.Defer(func() { stop(); built.EndListed(t, pids) })
			return nil
		},
		Cmds:     map[string]func(*testscript.TestScript, bool, []string){"keep": keep, "until": until(t)},
		Deadline: time.Now().Add(await.Limit(t)),
	})
}

// userToken makes a token for a user of their own. aicli looks a host up in all InfraEnvs that its user has, one after the other,
// and fails when one is deleted meanwhile: each script has its own.
func userToken(t *testing.T, dataDir, name string) string {
	t.Helper()
	made, err := built.Administrator(t, dataDir).CreateToken(t.Context(), wire.UserTokenCreateParams{
		UserName: name, Role: "user", ExpirationSeconds: 3600,
	})
	require.NoError(t, err)
	return made.Token
}

// keep puts what the last command printed into a variable: keep NAME.
func keep(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: keep NAME")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// until repeats a command until it prints a text, or nothing progresses any more: until TEXT COMMAND...
func until(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		if len(args) < 2 {
			ts.Fatalf("usage: until TEXT COMMAND...")
		}
		for watch := await.Begin(t); ; {
			err := ts.Exec(args[1], args[2:]...)
			last := ts.ReadFile("stdout") + ts.ReadFile("stderr")
			if err == nil && strings.Contains(last, args[0]) {
				return
			}
			if watch.Over() {
				ts.Fatalf("nothing progresses, and %q is not there, found:\n%s", args[0], last)
			}
		}
	}
}
