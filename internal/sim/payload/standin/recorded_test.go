package standin_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/sim/payload/standin"
	"slipway/internal/testing/realinstall"
)

// infraID is the random end of names: lab-w84t5-master-0.
var infraID = regexp.MustCompile(`lab-[a-z0-9]{5}-`)

func comparable(names []string) []string {
	out := []string{}
	for _, name := range names {
		out = append(out, infraID.ReplaceAllString(name, "lab-RANDOM-"))
	}
	slices.Sort(out)
	return out
}

// left lists the files of a folder, without the state and the log of the program.
func left(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		if err == nil && !d.IsDir() && !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
		return err
	}))
	return names
}

// refusal returns the errors that a program logged about the install-config.
func refusal(lines []string) string {
	var said []string
	for _, line := range lines {
		message, isError := strings.CutPrefix(line, "level=error msg=")
		if plain, err := strconv.Unquote(message); err == nil {
			message = plain
		}
		if isError {
			said = append(said, message)
		}
	}
	return strings.Join(said, "\n")
}

// unit is a systemd unit of a config.
type unit struct {
	Name     string
	Contents *string
	Enabled  *bool
	Dropins  []struct{ Name string }
}

// unitsOf returns the units of a config by name: whether they are enabled, have contents, and their drop-ins.
func unitsOf(t *testing.T, config []byte) map[string]string {
	t.Helper()
	var c struct{ Systemd struct{ Units []unit } }
	require.NoError(t, json.Unmarshal(config, &c))
	found := map[string]string{}
	for _, u := range c.Systemd.Units {
		said := "contents none"
		if u.Contents != nil {
			said = "contents empty"
			if *u.Contents != "" {
				said = "contents"
				if strings.Contains(*u.Contents, "[Install]") {
					said = "contents with an install section"
				}
			}
		}
		if u.Enabled != nil {
			said += ", enabled " + strconv.FormatBool(*u.Enabled)
		}
		for _, d := range u.Dropins {
			said += ", drop-in " + d.Name
		}
		found[u.Name] = said
	}
	return found
}

func TestTheStandInEqualsTheRecordedRuns(t *testing.T) {
	t.Parallel()
	for _, c := range realinstall.Cases(t) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "install-config.yaml"), c.Files["install-config.yaml"], 0o600))
			for _, run := range c.Runs {
				var said bytes.Buffer
				code := standin.Main(standin.Call{
					Args: append(strings.Fields(run.Command), "--dir", dir),
					Env: []string{
						"OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE=quay.io/openshift-release-dev/ocp-release@sha256:" + strings.Repeat("1", 64),
						standin.VariableVersion + "=4.19.0",
					},
					Now: time.Now(), Stdout: &said, Stderr: &said,
				})
				require.Equal(t, run.Exit, code, said.String())
				require.Equal(t, comparable(run.Files), comparable(left(t, dir)), run.Command)
				require.Equal(t, refusal(run.Messages), refusal(strings.Split(strings.TrimSpace(said.String()), "\n")))
			}
			configs, err := filepath.Glob(filepath.Join(dir, "*.ign"))
			require.NoError(t, err)
			for _, file := range configs {
				config, err := os.ReadFile(file)
				require.NoError(t, err)
				real := c.Files[filepath.Base(file)]
				require.NotEmpty(t, real, filepath.Base(file))
				require.Equal(t, unitsOf(t, real), unitsOf(t, config), filepath.Base(file))
			}
		})
	}
}
