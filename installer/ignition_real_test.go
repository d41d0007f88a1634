package installer_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/hostexec"
	"slipway/internal/testing/realinstall"
)

func ownerOf(info fs.FileInfo) string {
	stat := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%d:%d", stat.Uid, stat.Gid)
}

// realIgnition applies a config with Debian's Ignition 2.14 and enables units by its presets, as a first boot does. It runs in a
// mount namespace of its own, with an empty /run.
func realIgnition(t *testing.T, root hostexec.Root, config []byte) error {
	t.Helper()
	program, err := exec.LookPath(cmp.Or(os.Getenv("IGNITION"), "ignition"))
	if err != nil || os.Geteuid() != 0 {
		t.Skip("SKIP: this test needs Debian's ignition, which make test unpacks, and root")
	}
	dir := t.TempDir()
	file, cache := filepath.Join(dir, "config.ign"), filepath.Join(dir, "cache.json")
	require.NoError(t, os.WriteFile(file, config, 0o600))
	script := `mount -t tmpfs tmpfs /run
for stage in fetch files; do
  "$1" --platform file --stage $stage --root "$2" --config-cache "$3" --log-to-stdout
done
rm -f "$3"
systemctl --root "$2" preset-all`
	labels := filepath.Join(dir, "setfiles") // Ignition labels what it wrote; the tree has no policy
	require.NoError(t, os.WriteFile(labels, []byte("#!/bin/sh\n"), 0o755))
	cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "sh", "-eu", "-c", script, "sh", program, string(root), cache)
	cmd.Env = append(os.Environ(), "IGNITION_CONFIG_FILE="+file, "PATH="+dir+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out[max(0, len(out)-200):])
	}
	return nil
}

// A config that real Ignition and our installer apply gives the same tree: every node, mode, owner, digest and enabled unit.
func TestConfigsAreAppliedAsByRealIgnition(t *testing.T) {
	t.Parallel()
	cases := map[string][]byte{}
	for _, c := range realinstall.Cases(t) {
		if c.Bootstrap() != nil && len(c.Name) < 12 { // a dozen; all of them are applied elsewhere
			cases[c.Name] = withoutUsers(t, c.Bootstrap())
		}
	}
	for name, config := range membersOfIgnition {
		cases[name] = []byte(config)
	}
	for name, config := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			theirs, ours := seeded(t), seeded(t)
			refused := realIgnition(t, theirs, config)
			err := applied(t, ours, config)
			require.Equal(t, refused != nil, err != nil, "Ignition: %v\nours: %v", refused, err)
			if err == nil {
				require.Equal(t, snapshot(t, theirs), snapshot(t, ours))
			}
		})
	}
}

// withoutUsers takes the SSH keys out: Ignition calls useradd of the tree for them.
func withoutUsers(t *testing.T, config []byte) []byte {
	t.Helper()
	var c map[string]any
	require.NoError(t, json.Unmarshal(config, &c))
	delete(c, "passwd")
	out, err := json.Marshal(c)
	require.NoError(t, err)
	return out
}

// seeded makes a tree with nodes that configs meet.
func seeded(t *testing.T) hostexec.Root {
	t.Helper()
	root := tree(t, true)
	require.NoError(t, os.MkdirAll(root.Path("/opt/dir"), 0o755))
	require.NoError(t, os.Chmod(root.Path("/opt/dir"), 0o700))
	require.NoError(t, os.WriteFile(root.Path("/opt/file"), []byte("before\n"), 0o600))
	require.NoError(t, os.Chown(root.Path("/opt/file"), 1000, 1000))
	require.NoError(t, os.Symlink("/opt/file", root.Path("/opt/link")))
	own := []byte("[Install]\nWantedBy=multi-user.target\n")
	require.NoError(t, os.WriteFile(root.Path("/usr/lib/systemd/system/own.service"), own, 0o644))
	require.NoError(t, os.MkdirAll(root.Path("/etc/systemd/system"), 0o755))
	require.NoError(t, os.Symlink("/dev/null", root.Path("/etc/systemd/system/own-masked.service")))
	return root
}

func member(body string) string { return `{"ignition":{"version":"3.3.0"},` + body + `}` }

func storage(body string) string { return member(`"storage":{` + body + `}`) }

func units(body string) string { return member(`"systemd":{"units":[` + body + `]}`) }

// membersOfIgnition are members of Ignition's specification that no recorded config has.
var membersOfIgnition = map[string]string{
	"file without contents":             storage(`"files":[{"path":"/opt/new"}]`),
	"file without contents that exists": storage(`"files":[{"path":"/opt/file"}]`),
	"mode of a file that exists":        storage(`"files":[{"path":"/opt/file","mode":420}]`),
	"owner of a file that exists":       storage(`"files":[{"path":"/opt/file","user":{"id":0},"group":{"name":"root"}}]`),
	"file with owner by name": storage(
		`"files":[{"path":"/opt/new","contents":{"source":"data:,x"},"user":{"name":"core"},"group":{"name":"core"}}]`,
	),
	"file that exists is not overwritten": storage(`"files":[{"path":"/opt/file","contents":{"source":"data:,after"}}]`),
	"file that exists is overwritten":     storage(`"files":[{"path":"/opt/file","overwrite":true,"contents":{"source":"data:,after"}}]`),
	"empty contents overwrite":            storage(`"files":[{"path":"/opt/file","overwrite":true,"contents":{"source":"data:,"}}]`),
	"text is added": storage(
		`"files":[{"path":"/opt/file","append":[{"source":"data:,more"},{"source":"data:;base64,YQ=="}]}]`,
	),
	"text is added to a new file": storage(
		`"files":[{"path":"/opt/new","contents":{"source":"data:,a"},"append":[{"source":"data:,b"}]}]`,
	),
	"file in place of a link is refused":   storage(`"files":[{"path":"/opt/link","contents":{"source":"data:,x"}}]`),
	"file in place of a link":              storage(`"files":[{"path":"/opt/link","overwrite":true,"contents":{"source":"data:,x"}}]`),
	"file in place of a folder is refused": storage(`"files":[{"path":"/opt/dir","contents":{"source":"data:,x"}}]`),
	"file in place of a folder":            storage(`"files":[{"path":"/opt/dir","overwrite":true,"contents":{"source":"data:,x"}}]`),
	"compressed file": storage(
		`"files":[{"path":"/opt/new","contents":{"compression":"gzip","source":"` + packed("text") + `"}}]`,
	),
	"digest of a compressed file": storage(
		`"files":[{"path":"/opt/new","contents":{"compression":"gzip","source":"` + packed("text") + `","verification":{"hash":"sha256-982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"}}}]`,
	),
	"right digest": storage(
		`"files":[{"path":"/opt/new","contents":{"source":"data:,x","verification":{"hash":"sha256-2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}}}]`,
	),
	"wrong digest": storage(
		`"files":[{"path":"/opt/new","contents":{"source":"data:,y","verification":{"hash":"sha256-2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}}}]`,
	),
	"new folder":                           storage(`"directories":[{"path":"/opt/a/b/c"}]`),
	"folder with a mode":                   storage(`"directories":[{"path":"/opt/a","mode":448,"user":{"id":1000}}]`),
	"folder that exists keeps its mode":    storage(`"directories":[{"path":"/opt/dir"}]`),
	"folders in any order":                 storage(`"directories":[{"path":"/opt/a/b","mode":448},{"path":"/opt/a","mode":493}]`),
	"folder in place of a file is refused": storage(`"directories":[{"path":"/opt/file"}]`),
	"folder in place of a file":            storage(`"directories":[{"path":"/opt/file","overwrite":true}]`),
	"link":                                 storage(`"links":[{"path":"/opt/l","target":"../usr"}]`),
	"link in a new folder":                 storage(`"links":[{"path":"/opt/new/l","target":"/usr","user":{"id":1000}}]`),
	"link that exists":                     storage(`"links":[{"path":"/opt/link","target":"/opt/file"}]`),
	"link to another target is refused":    storage(`"links":[{"path":"/opt/link","target":"/usr"}]`),
	"link to another target":               storage(`"links":[{"path":"/opt/link","overwrite":true,"target":"/usr"}]`),
	"link in place of a folder":            storage(`"links":[{"path":"/opt/dir","overwrite":true,"target":"/usr"}]`),
	"hard link":                            storage(`"links":[{"path":"/opt/hard","hard":true,"target":"/opt/file"}]`),
	"unit with contents is enabled":        units(`{"name":"a.service","enabled":true,"contents":"[Install]\nWantedBy=multi-user.target\n"}`),
	"unit without an install section":      units(`{"name":"a.service","enabled":true,"contents":"[Service]\nExecStart=/bin/true\n"}`),
	"unit is disabled":                     units(`{"name":"a.service","enabled":false,"contents":"[Install]\nWantedBy=multi-user.target\n"}`),
	"the system's unit is enabled":         units(`{"name":"own.service","enabled":true}`),
	"empty contents":                       units(`{"name":"own.service","enabled":true,"contents":""}`),
	"unit that does not exist":             units(`{"name":"nosuch.service","enabled":true},{"name":"own.service","enabled":true}`),
	"drop-in without a unit, enabled": units(
		`{"name":"nosuch.service","enabled":true,"dropins":[{"name":"a.conf","contents":"[Unit]\n"}]},{"name":"own.service","enabled":true}`,
	),
	"empty drop-in":                        units(`{"name":"own.service","dropins":[{"name":"a.conf","contents":""}]}`),
	"drop-in without contents":             units(`{"name":"own.service","dropins":[{"name":"a.conf"}]}`),
	"unit is masked":                       units(`{"name":"own.service","mask":true}`),
	"unit that does not exist is masked":   units(`{"name":"nosuch.service","mask":true}`),
	"mask is taken off":                    units(`{"name":"own-masked.service","mask":false}`),
	"masked unit of the system is enabled": units(`{"name":"own-masked.service","enabled":true},{"name":"own.service","enabled":true}`),
	"relative target of a hard link":       storage(`"links":[{"path":"/opt/hard","hard":true,"target":"file"}]`),
	"remote contents":                      storage(`"files":[{"path":"/opt/new","contents":{"source":"tftp://127.0.0.1:1/x"}}]`),
	"path that is not absolute":            storage(`"files":[{"path":"opt/new"}]`),
	"one path twice":                       storage(`"files":[{"path":"/opt/new"}],"directories":[{"path":"/opt/new"}]`),
	"unknown compression":                  storage(`"files":[{"path":"/opt/new","contents":{"compression":"zip","source":"data:,x"}}]`),
	"unknown version":                      `{"ignition":{"version":"3.9.0"}}`,
}
