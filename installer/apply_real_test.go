package installer_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/installer"
	"slipway/internal/platform/hostexec"
	"slipway/internal/testing/realinstall"
)

// realUnits runs the real systemctl on the units of a root tree.
type realUnits struct {
	hostexec.Exec
	root hostexec.Root
}

func (r realUnits) Run(ctx context.Context, c hostexec.Cmd) (hostexec.Result, error) {
	if c.Name != "systemctl" {
		return hostexec.Result{}, fmt.Errorf("%s is not a command of this test", c.Name)
	}
	if c.Args[0] == "daemon-reload" {
		return hostexec.Result{}, nil // is of the running system
	}
	c.Args = append([]string{"--root", string(r.root)}, c.Args...)
	return r.Exec.Run(ctx, c)
}

// tree makes a system before its bootstrap: the accounts, the unit of the system that bootstrap.ign enables, and a message of the day.
func tree(t *testing.T, withUnit bool) hostexec.Root {
	t.Helper()
	if _, err := exec.LookPath("systemctl"); err != nil {
		t.Skip("SKIP: this test needs systemctl")
	}
	root := hostexec.Root(t.TempDir())
	files := map[string]string{
		"/etc/passwd":         "root:x:0:0:root:/root:/bin/bash\ncore:x:1000:1000::/home/core:/bin/bash\n",
		"/etc/group":          "root:x:0:\ncore:x:1000:\n",
		"/etc/motd":           "Welcome\n",
		"/etc/selinux/config": "SELINUX=enforcing\nSELINUXTYPE=targeted\n",
		"/usr/lib/systemd/system-preset/99-default-disable.preset": "disable *\n",
	}
	if withUnit {
		files["/usr/lib/systemd/system/systemd-journal-gatewayd.socket"] = "[Socket]\nListenStream=19531\n\n[Install]\nWantedBy=sockets.target\n"
		files["/usr/lib/systemd/system/systemd-journal-gatewayd.service"] = "[Service]\nExecStart=/usr/lib/systemd/systemd-journal-gatewayd\n"
	}
	for name, content := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(root.Path(name)), 0o755))
		require.NoError(t, os.WriteFile(root.Path(name), []byte(content), 0o644))
	}
	return root
}

func applied(t *testing.T, root hostexec.Root, config []byte) error {
	t.Helper()
	i := installer.New(installer.Options{Root: root, Runner: realUnits{root: root}, Log: slog.New(slog.DiscardHandler)})
	return i.Apply(t.Context(), config)
}

// enabledUnits lists the links that enabling makes, without their folder.
func enabledUnits(t *testing.T, root hostexec.Root) (out []string) {
	t.Helper()
	links, err := filepath.Glob(root.Path("/etc/systemd/system/*.wants/*"))
	require.NoError(t, err)
	for _, l := range links {
		out = append(out, filepath.Base(l))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Every bootstrap.ign of the real openshift-install is applied. What must be there afterwards is written by hand from Ignition's
// specification: each file as it says, no file for a unit with empty contents, and its units enabled where they exist.
func TestEveryRealBootstrapIgnitionIsApplied(t *testing.T) {
	t.Parallel()
	count := 0
	for _, c := range realinstall.Cases(t) {
		config := c.Bootstrap()
		if config == nil {
			continue
		}
		count++
		for _, withUnit := range []bool{true, false} {
			if !withUnit && c.Name != "baremetal" && c.Name != "none" && c.Name != "single-node" {
				continue
			}
			t.Run(fmt.Sprintf("%s, the image has the journal's gateway: %t", c.Name, withUnit), func(t *testing.T) {
				t.Parallel()
				root := tree(t, withUnit)
				for range 2 { // a step that was cut off is done again
					require.NoError(t, applied(t, root, config))
				}
				checkFiles(t, root, config)
				require.NoFileExists(t, root.Path("/etc/systemd/system/systemd-journal-gatewayd.socket"), "its contents are empty")
				require.FileExists(t, root.Path("/etc/systemd/system/systemd-journal-gatewayd.service.d/certs.conf"))
				require.FileExists(t, root.Path("/etc/systemd/system/zincati.service.d/okd-machine-os-disabled.conf"))
				want := []string{"approve-csr.service", "chown-gatewayd-key.service", "kubelet.service", "progress.service"}
				for _, own := range []string{"install-to-disk.service", "master-bmh-update.service"} { // of a single node, and of bare metal
					if strings.Contains(string(config), `"name":"`+own+`"`) {
						want = append(want, own)
					}
				}
				if withUnit {
					want = append(want, "systemd-journal-gatewayd.socket")
				}
				require.ElementsMatch(t, want, enabledUnits(t, root))
			})
		}
	}
	t.Logf("configs applied %d", count)
	require.Equal(t, 27, count)
}

// Ignition 2.14 asks a running systemd for instances; the rule is systemctl's.
func TestInstanceOfATemplateIsEnabled(t *testing.T) {
	t.Parallel()
	root := tree(t, true)
	require.NoError(t, applied(t, root, []byte(units(
		`{"name":"t@.service","contents":"[Install]\nWantedBy=multi-user.target\n"},{"name":"t@one.service","enabled":true},`+
			`{"name":"nosuch@one.service","enabled":true}`))))
	require.Equal(t, []string{"t@one.service"}, enabledUnits(t, root))
}

// A unit that systemctl refuses is left out; the others are enabled all the same.
func TestUnitThatCannotBeEnabledStopsNoOther(t *testing.T) {
	t.Parallel()
	root := tree(t, true)
	require.NoError(t, applied(t, root, []byte(units(
		`{"name":"bad.service","enabled":true,"contents":"[Install]\nAlias=bad.socket\n"},`+
			`{"name":"good.service","enabled":true,"contents":"[Install]\nWantedBy=multi-user.target\n"}`))))
	require.Equal(t, []string{"good.service"}, enabledUnits(t, root))
}

// What a running host cannot be given is an error that names the member.
func TestUnsupportedMembersAreErrors(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{
		"storage.disks":               member(`"storage":{"disks":[{"device":"/dev/sda","wipeTable":true}]}`),
		"storage.filesystems":         member(`"storage":{"filesystems":[{"device":"/dev/sda1","format":"xfs"}]}`),
		"storage.luks":                member(`"storage":{"luks":[{"name":"root","device":"/dev/sda1","clevis":{"tpm2":true}}]}`),
		"storage.raid":                member(`"storage":{"raid":[{"name":"md","level":"raid1","devices":["/dev/sda","/dev/sdb"]}]}`),
		"passwd.groups":               member(`"passwd":{"groups":[{"name":"g"}]}`),
		"passwd.users.u.passwordHash": member(`"passwd":{"users":[{"name":"u","passwordHash":"$6$x"}]}`),
		"passwd.users.u.groups, passwd.users.u.shell": member(`"passwd":{"users":[{"name":"u","groups":["wheel"],"shell":"/bin/sh"}]}`),
		"kernelArguments":         member(`"kernelArguments":{"shouldExist":["nosmt"]}`),
		"ignition.config.merge":   `{"ignition":{"version":"3.3.0","config":{"merge":[{"source":"data:,x"}]}}}`,
		"ignition.config.replace": `{"ignition":{"version":"3.3.0","config":{"replace":{"source":"data:,x"}}}}`,
	} {
		require.ErrorContains(t, applied(t, tree(t, true), []byte(config)), "not supported on a running host: "+name)
	}
}

// checkFiles compares the files of a config with the files of a tree. It reads the config by itself.
func checkFiles(t *testing.T, root hostexec.Root, config []byte) {
	t.Helper()
	var c struct {
		Storage struct {
			Files []struct {
				Path     string
				Mode     *uint32
				Contents struct{ Source string }
				Append   []struct{ Source string }
			}
		}
	}
	require.NoError(t, json.Unmarshal(config, &c))
	require.NotEmpty(t, c.Storage.Files)
	for _, f := range c.Storage.Files {
		info, err := os.Lstat(root.Path(f.Path))
		require.NoError(t, err)
		if f.Mode != nil {
			require.Equal(t, fs.FileMode(*f.Mode), info.Mode(), f.Path)
		}
		have, err := os.ReadFile(root.Path(f.Path))
		require.NoError(t, err)
		want := ""
		if f.Path == "/etc/motd" && f.Contents.Source == "" {
			want = "Welcome\n"
		}
		for _, source := range append([]string{f.Contents.Source}, sources(f.Append)...) {
			if source == "" {
				continue
			}
			kind, data, found := strings.Cut(source, ",")
			require.True(t, found && strings.HasSuffix(kind, ";base64"), "%s: %s", f.Path, kind)
			decoded, err := base64.StdEncoding.DecodeString(data)
			require.NoError(t, err)
			want += string(decoded)
		}
		require.Equal(t, want, string(have), f.Path)
	}
}

func sources(list []struct{ Source string }) (out []string) {
	for _, s := range list {
		out = append(out, s.Source)
	}
	return out
}

// snapshot lists the nodes of a tree: path, kind, mode, owner and digest or target.
func snapshot(t *testing.T, root hostexec.Root) (out []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(string(root), func(place string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(place, string(root))
		if name == "/etc/.ignition-result.json" || strings.HasPrefix(name, "/etc/systemd/system-preset") || name == "" {
			return nil // Ignition's own
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%s %s %s", name, info.Mode(), ownerOf(info))
		switch {
		case info.Mode().IsRegular():
			content, err := os.ReadFile(place)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %x", sha256.Sum256(content))
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(place)
			if err != nil {
				return err
			}
			line += " -> " + strings.TrimPrefix(target, string(root))
		}
		out = append(out, line)
		return nil
	}))
	return out
}
