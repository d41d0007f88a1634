package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// goSum has the hashes of the published module, as its first download writes them.
const goSum = `github.com/dgrijalva/jwt-go v3.2.0+incompatible h1:7qlOGliEKZXTDg6OTjfoBKDXWrumCAMpl/TFQ4/5kLM=
github.com/dgrijalva/jwt-go v3.2.0+incompatible/go.mod h1:E3ru+11k8xSBh+hMPgOLZmtrrCbhqsmaPHjLKYnJCaQ=
`

// moduleWith makes a module that requires a version with a published vulnerability, and whose main has the statement.
func moduleWith(t *testing.T, statement string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module vulnerable\n\ngo 1.26\n\nrequire github.com/dgrijalva/jwt-go v3.2.0+incompatible\n",
		"go.sum":  goSum,
		"main.go": "package main\n\nimport \"github.com/dgrijalva/jwt-go\"\n\nfunc main() {\n\t" + statement + "\n}\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	return folder
}

// lookFor runs the program of make vuln on a module, with a database and a line of accepted vulnerabilities.
func lookFor(t *testing.T, module, database, line string) (string, error) {
	t.Helper()
	program, err := filepath.Abs("../../deploy/vulnerabilities")
	require.NoError(t, err)
	accepted := filepath.Join(t.TempDir(), "accepted")
	require.NoError(t, os.WriteFile(accepted, []byte("# id, day, reason\n"+line+"\n"), 0o600))
	cmd := exec.Command(program, "./...")
	cmd.Dir, cmd.Env = module, append(os.Environ(), "GOVULNDB="+database, "ACCEPTED="+accepted)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestVulnerabilitiesThatAreReachedAreFound(t *testing.T) {
	t.Parallel()
	if os.Getenv("GOVULNCHECK") == "" {
		t.Skip("SKIP: this test needs govulncheck (make run-bench builds it)")
	}
	records, err := filepath.Abs("testdata/vulnerabilities")
	require.NoError(t, err)
	reached := moduleWith(t, `println(jwt.MapClaims{"aud": []string{"another"}}.VerifyAudience("service", true))`)
	if out, err := exec.Command("go", "-C", reached, "mod", "download").CombinedOutput(); err != nil {
		t.Skipf("SKIP: the module with a vulnerability cannot be fetched: %s", out)
	}
	out, err := lookFor(t, reached, "file://"+records, "")
	require.Error(t, err)
	require.Contains(t, out, "GO-2020-0017")
	require.Contains(t, out, "MapClaims.VerifyAudience")

	out, err = lookFor(t, reached, "file://"+records, "GO-2020-0017 2020-01-01 no release repairs it")
	require.Error(t, err, "%s", out)
	out, err = lookFor(t, reached, "file://"+records, "GO-2020-0017 2999-01-01 no release repairs it")
	require.NoError(t, err)
	require.Contains(t, out, "GO-2020-0017 is accepted until 2999-01-01")

	required := moduleWith(t, `println(jwt.MapClaims{"exp": 1}.VerifyExpiresAt(2, true))`)
	out, err = lookFor(t, required, "file://"+records, "")
	require.NoError(t, err, "a function without the fault is called: %s", out)
}

func TestDatabaseOfVulnerabilitiesIsNamedAndCanBeMissing(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	for database, c := range map[string]struct {
		says string
		code int
	}{
		"file://" + empty: {"vulnerabilities: require a folder of records in the OSV format, found none in " + empty + "\n", 2},
		"ftp://example.com": {
			"vulnerabilities: require GOVULNDB to be https://HOST, file:///FOLDER or module[@VERSION], found ftp://example.com\n", 2,
		},
		"http://127.0.0.1:9/absent": {"SKIP: known vulnerabilities are not looked for: http://127.0.0.1:9/absent does not answer\n", 0},
	} {
		t.Run(database, func(t *testing.T) {
			t.Parallel()
			program, err := filepath.Abs("../../deploy/vulnerabilities")
			require.NoError(t, err)
			cmd := exec.Command(program)
			cmd.Env = append(os.Environ(), "GOVULNDB="+database, "GOVULNCHECK=/bin/false")
			out, _ := cmd.CombinedOutput()
			require.Equal(t, c.says, string(out))
			require.Equal(t, c.code, cmd.ProcessState.ExitCode())
		})
	}
}
