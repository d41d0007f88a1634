package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBuildsThatDependOnTheirPlaceAreFound(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("../../deploy/reproducible")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		recipe, says string
		same         bool
	}{
		"the commit alone":           {"git rev-parse HEAD", "built twice; 0 differ", true},
		"the folder it was built in": {"pwd", "different: program", false},
		"the time zone":              {"date -d @0", "different: program", false},
		"the rights of new files":    {"umask", "different: program", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repository := t.TempDir()
			makefile := "programs:\n\t@mkdir -p bin && " + c.recipe + " > bin/program\n"
			require.NoError(t, os.WriteFile(filepath.Join(repository, "Makefile"), []byte(makefile), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(repository, "reproducible"), script, 0o700)) //nolint:gosec // a program
			git(t, repository, "init", "--quiet")
			git(t, repository, "add", ".")
			git(t, repository, "commit", "--quiet", "--message", "first")
			for _, mode := range [][]string{{"linked"}, nil} {
				cmd := exec.Command(filepath.Join(repository, "reproducible"), mode...)
				cmd.Dir = repository
				cmd.Env = append(os.Environ(), "TZ=UTC")
				out, err := cmd.CombinedOutput()
				require.Contains(t, string(out), c.says)
				require.Equal(t, c.same, err == nil, "%s", out)
			}
		})
	}
}

// Each stage of .ci/run is a target of the Makefile, and these are among them.
func TestCIChecksBuildsVulnerabilitiesAndLicences(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("../../.ci/run")
	require.NoError(t, err)
	makefile, err := os.ReadFile("../../Makefile")
	require.NoError(t, err)
	var stages []string
	for line := range strings.Lines(string(script)) {
		if arguments, ok := strings.CutPrefix(line, "stage "); ok {
			stages = append(stages, strings.Fields(arguments)...)
		}
	}
	for _, stage := range []string{"smoke-reproducible", "sbom", "vuln"} {
		require.Contains(t, stages, stage)
		require.Contains(t, string(makefile), "\n"+stage+":")
	}
}
