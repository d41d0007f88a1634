package unitfiles_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/hostexec"
	"slipway/internal/sim/unitfiles"
)

// tree has a unit of each kind.
func tree(t *testing.T) hostexec.Root {
	t.Helper()
	root := hostexec.Root(t.TempDir())
	require.NoError(t, unitfiles.WriteSystem(root))
	require.NoError(t, os.MkdirAll(root.Path("/etc/systemd/system/only.service.d"), 0o755))
	const install = "[Install]\nWantedBy=multi-user.target\n"
	for name, text := range map[string]string{
		"/etc/systemd/system/empty.service":        "",
		"/etc/systemd/system/systemd-empty.socket": "",
		"/etc/systemd/system/own.service":          install,
		"/etc/systemd/system/two.service": "[Unit]\nWants=x.service\n" +
			"[Install]\nWantedBy=multi-user.target\nRequiredBy=crio.service\n",
		"/etc/systemd/system/static.service":             "[Service]\nExecStart=/bin/true\n",
		"/etc/systemd/system/only.service.d/a.conf":      "[Unit]\n",
		"/usr/lib/systemd/system/hidden.service":         install,
		"/usr/lib/systemd/system/of-system.service":      install,
		"/usr/lib/systemd/system/instance@.service":      install,
		"/usr/lib/systemd/system/systemd-empty.socket":   install,
		"/usr/lib/systemd/system/multi-user.target":      "[Unit]\n",
		"/usr/lib/systemd/system/sockets.target":         "[Unit]\n",
		"/usr/lib/systemd/system/unmasked-again.service": install,
	} {
		require.NoError(t, os.WriteFile(root.Path(name), []byte(text), 0o644))
	}
	require.NoError(t, os.Symlink("/dev/null", root.Path("/etc/systemd/system/hidden.service")))
	return root
}

// links lists the links below /etc/systemd/system, with their targets.
func links(t *testing.T, root hostexec.Root) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(root.Path("/etc/systemd/system"), func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(name)
			found[strings.TrimPrefix(name, string(root))] = strings.TrimPrefix(target, string(root))
			return err
		}
		return err
	}))
	return found
}

func TestUnitFilesChangeAsWithTheInstalledSystemctl(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("systemctl")
	if err != nil {
		t.Skip("SKIP: systemctl is not installed (Debian: systemd), the simulated one was not compared")
	}
	for _, commands := range [][]string{
		{"enable own.service", "enable own.service", "disable own.service", "disable own.service"},
		{"enable own.service two.service of-system.service"},
		{"enable own.service empty.service"},
		{"enable own.service hidden.service"},
		{"enable own.service nosuch.service"},
		{"enable systemd-empty.socket", "enable systemd-journal-gatewayd.socket"},
		{"enable only.service"},
		{"enable static.service"},
		{"enable instance@one.service"},
		{"disable nosuch.service"},
		{"disable hidden.service"},
		{"disable static.service own.service"},
		{"mask own.service"},
		{"mask of-system.service", "mask of-system.service", "enable of-system.service", "unmask of-system.service", "enable of-system.service"},
		{"mask nosuch.service", "enable nosuch.service"},
		{"unmask hidden.service", "enable hidden.service"},
		{"unmask own.service"},
		{"enable zincati.service", "mask zincati.service", "disable zincati.service"},
	} {
		t.Run(strings.Join(commands, ", "), func(t *testing.T) {
			t.Parallel()
			ours, theirs := tree(t), tree(t)
			for _, line := range commands {
				words := strings.Fields(line)
				output, err := exec.CommandContext(t.Context(), program, append([]string{"--root", string(theirs)}, words...)...).CombinedOutput()
				want := 0
				if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
					want = exit.ExitCode()
				} else {
					require.NoError(t, err)
				}
				said, code := unitfiles.Change(ours, words[0], words[1:])
				require.Equal(t, want, code, "%s\n%s\n%s", line, output, said)
				require.Equal(t, links(t, theirs), links(t, ours), "%s\n%s\n%s", line, output, said)
			}
		})
	}
}

func TestUnitsThatAreMissingOrMaskedDoNotStart(t *testing.T) {
	t.Parallel()
	root := tree(t)
	for unit, want := range map[string]int{
		"own.service": 0, "of-system.service": 0, "hidden.service": 1, "empty.service": 1, "nosuch.service": 5,
	} {
		said, code := unitfiles.Startable(root, []string{unit}, []string{unit})
		require.Equal(t, want, code, said)
	}
	_, code := unitfiles.Startable(root, []string{"NetworkManager.service"}, nil)
	require.Zero(t, code, "units of the live image that the tree does not have")
}
