package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// TestSessionOfTheCommandLine types the lines of testdata at a service that is started for them.
func TestSessionOfTheCommandLine(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir := dataFolder(t)
	start(t, nil, "up", "--data-dir", dir)
	programs := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(programs, "slipway")))
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv(commandEnv, "1")
			env.Setenv("PATH", programs+string(os.PathListSeparator)+os.Getenv("PATH"))
			env.Setenv("SLIPWAY_DATA_DIR", dir)
			env.Setenv("XDG_CONFIG_HOME", env.WorkDir)
			return nil
		},
	})
}
