package setup

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// program writes a program that prints its arguments, beside the programs of hosts.
func program(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{
		"slipway", "slipway-agent-amd64", "slipway-agent-arm64", "slipway-controller-amd64", "slipway-demo", "LICENSE", "CHANGELOG.md",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\necho "+name+" $*\n"), 0o755)) //nolint:gosec // a program
	}
	return filepath.Join(folder, "slipway")
}

func TestTheServiceHasTheFilesOfThePackagesBelowItsPrefix(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../deploy/packages/nfpm.yaml")
	require.NoError(t, err)
	var packaged struct {
		Contents []struct{ Src, Dst, Type, Packager string }
	}
	require.NoError(t, yaml.Unmarshal(text, &packaged))
	self := program(t)
	files, err := layout{"/opt/slipway"}.files(t.Context(), self, filepath.Dir(self))
	require.NoError(t, err)
	var found []string
	for _, f := range files {
		found = append(found, f.path)
	}
	var wanted []string
	for _, c := range packaged.Contents {
		path := "/opt/slipway" + strings.TrimPrefix(c.Dst, "/usr")
		switch {
		case c.Type == "dir" || c.Packager == "rpm":
		case strings.HasSuffix(path, "/copyright"): // Debian's name
			wanted = append(wanted, "/opt/slipway/share/doc/slipway/LICENSE")
		case c.Src == "bin/slipway-agent-*":
			wanted = append(wanted, path+"slipway-agent-amd64", path+"slipway-agent-arm64")
		case c.Src == "bin/slipway-controller-*":
			wanted = append(wanted, path+"slipway-controller-amd64")
		default:
			wanted = append(wanted, path)
		}
	}
	require.ElementsMatch(t, wanted, found)
	require.Contains(t, wanted, "/opt/slipway/lib/systemd/system/slipway-backup.timer")
}

func TestFilesNameTheProgramBelowItsPrefix(t *testing.T) {
	t.Parallel()
	self := program(t)
	l := layout{"/opt/slipway"}
	files, err := l.files(t.Context(), self, filepath.Dir(self))
	require.NoError(t, err)
	text := func(path string) string {
		i := slices.IndexFunc(files, func(f file) bool { return f.path == path })
		require.NotEqual(t, -1, i, path)
		return string(files[i].content)
	}
	require.Contains(t, text("/opt/slipway/lib/systemd/system/slipway.service"), "\nExecStart=/opt/slipway/bin/slipway up\n")
	require.Contains(t, text("/opt/slipway/lib/systemd/system/slipway-backup.service"), "\nExecStart=/opt/slipway/bin/slipway backup\n")
	require.Equal(t, "slipway completion bash --program /opt/slipway/bin/slipway\n",
		text("/opt/slipway/share/bash-completion/completions/slipway"))
	script, err := l.text("postinstall")
	require.NoError(t, err)
	require.Contains(t, string(script), "  /opt/slipway/bin/slipway config example >")
	require.NotContains(t, string(script), "/usr/")
}

func TestAnotherVersionReplacesProgramsAndRemovesOthers(t *testing.T) {
	t.Parallel()
	prefix := t.TempDir()
	l := layout{prefix}
	install := func(ctx context.Context, self string) {
		files, err := l.files(ctx, self, filepath.Dir(self))
		require.NoError(t, err)
		require.NoError(t, (&InstallCommand{}).write(l, files))
	}
	install(t.Context(), program(t))
	require.FileExists(t, filepath.Join(prefix, "lib/slipway/slipway-agent-arm64"))
	info, err := os.Stat(l.program())
	require.NoError(t, err)
	require.Equal(t, "-rwxr-xr-x", info.Mode().String())

	newer := program(t)
	require.NoError(t, os.Remove(filepath.Join(filepath.Dir(newer), "slipway-agent-arm64")))
	require.NoError(t, os.WriteFile(newer, []byte("#!/bin/sh\necho newer\n"), 0o755)) //nolint:gosec // a program
	install(t.Context(), newer)
	replaced, err := os.ReadFile(l.program())
	require.NoError(t, err)
	require.Equal(t, "#!/bin/sh\necho newer\n", string(replaced))
	require.NoFileExists(t, filepath.Join(prefix, "lib/slipway/slipway-agent-arm64"), "of the version before")

	// The installed one, once more: it is there already.
	self := l.program()
	files, err := l.files(t.Context(), self, l.library())
	require.NoError(t, err)
	require.NoError(t, (&InstallCommand{}).write(l, files))
	require.FileExists(t, filepath.Join(prefix, "lib/slipway/slipway-agent-amd64"))

	require.NoError(t, os.WriteFile(filepath.Join(prefix, "share/doc/notes"), nil, 0o600))
	require.NoError(t, l.remove())
	var left []string
	require.NoError(t, filepath.WalkDir(prefix, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			left = append(left, path)
		}
		return err
	}))
	require.Equal(t, []string{filepath.Join(prefix, "share/doc/notes")}, left)
	require.NoDirExists(t, filepath.Join(prefix, "lib/slipway"))
}
