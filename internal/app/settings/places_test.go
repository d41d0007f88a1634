package settings

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProgramsOfHostsAreFoundBesideTheService(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, there, want string
	}{
		{"a folder of a build", "bin/slipway-agent-amd64", "bin"},
		{"a package", "lib/slipway/slipway-agent-arm64", "lib/slipway"},
		{"nothing: the folder that the warning names", "share/slipway-agent-amd64", "bin"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(test.there)), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(root, test.there), nil, 0o600))
			require.Equal(t, filepath.Join(root, test.want), besideProgram(filepath.Join(root, "bin", "slipway")))
		})
	}
}
