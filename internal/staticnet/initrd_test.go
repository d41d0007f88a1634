package staticnet_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cavaliergopher/cpio"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/staticnet"
)

func parse(t *testing.T, states ...string) []staticnet.Host {
	t.Helper()
	hosts, err := staticnet.Parse(config(t, states...))
	require.NoError(t, err)
	return hosts
}

// unpack reads an archive the way the kernel does: a file's folder must come before it.
func unpack(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(archive))
	require.NoError(t, err)
	reader, out, folders := cpio.NewReader(plain), map[string]string{}, map[string]bool{".": true}
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(t, err)
		require.True(t, folders[filepath.Dir(header.Name)], "%s comes before its folder", header.Name)
		if header.Mode.IsDir() {
			folders[header.Name] = true
			continue
		}
		content, err := io.ReadAll(reader)
		require.NoError(t, err)
		out["/"+header.Name] = string(content)
	}
}

func TestInitrdBringsSettingsAndProxy(t *testing.T) {
	t.Parallel()
	hosts := parse(t, read(t, "testdata", "static", "state.yaml"), read(t, "testdata", "dynamic", "state.yaml"))
	archive, err := staticnet.MinimalInitrd(hosts, model.Proxy{HTTP: "http://ann:100%25@proxy.example:3128", NoProxy: "example.com"})
	require.NoError(t, err)
	files := unpack(t, archive)
	require.Equal(t, read(t, "testdata", "static", "eth0.nmconnection"), files["/etc/assisted/network/host0/eth0.nmconnection"])
	require.Equal(t, "52:54:00:aa:bb:01=eth0\n52:54:00:aa:bb:02=eth1\n", files["/etc/assisted/network/host0/mac_interface.ini"])
	require.Equal(t, "52:54:00:aa:ba:01=eth0\n52:54:00:aa:ba:02=eth1\n", files["/etc/assisted/network/host1/mac_interface.ini"])
	require.Equal(t, string(staticnet.Script), files[staticnet.ScriptPath])
	require.Equal(t, "[Service]\nEnvironment=\"http_proxy=http://ann:100%%25@proxy.example:3128\"\nEnvironment=\"no_proxy=example.com\"\n",
		files["/etc/systemd/system/coreos-livepxe-rootfs.service.d/10-slipway-proxy.conf"])
	require.Contains(t, files["/usr/lib/dracut/hooks/initqueue/settled/10-slipway-static-network.sh"], "/bin/sh "+staticnet.ScriptPath)
}

func TestInitrdIsMissingWhenNothingIsNeeded(t *testing.T) {
	t.Parallel()
	archive, err := staticnet.MinimalInitrd(nil, model.Proxy{})
	require.NoError(t, err)
	require.Nil(t, archive)
}

func TestInitrdThatNoImageHasRoomForIsRefused(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 3<<19)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	_, err := staticnet.MinimalInitrd(nil, model.Proxy{NoProxy: hex.EncodeToString(noise)})
	require.ErrorIs(t, err, model.ErrConflict)
	require.ErrorContains(t, err, "require at most 1048576 bytes packed")
}

// machine is a place with the interfaces of one machine, for the script.
type machine struct {
	t                                 *testing.T
	settings, connections, interfaces string
}

func newMachine(t *testing.T, macs ...string) *machine {
	t.Helper()
	root := t.TempDir()
	m := &machine{t, filepath.Join(root, "settings"), filepath.Join(root, "connections"), filepath.Join(root, "net")}
	for i, mac := range macs {
		folder := filepath.Join(m.interfaces, "ens"+string(rune('1'+i)))
		require.NoError(t, os.MkdirAll(folder, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "address"), []byte(mac+"\n"), 0o600))
	}
	files, err := staticnet.Files(parse(t, read(t, "testdata", "static", "state.yaml"), read(t, "testdata", "bond-vlan", "state.yaml")))
	require.NoError(t, err)
	for _, file := range files {
		path := filepath.Join(m.settings, strings.TrimPrefix(file.Path, staticnet.Folder))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, file.Content, 0o644)) //nolint:gosec // the script sets the mode
	}
	return m
}

func (m *machine) run() string {
	m.t.Helper()
	script := filepath.Join(m.t.TempDir(), "script.sh")
	require.NoError(m.t, os.WriteFile(script, staticnet.Script, 0o600))
	out, err := exec.CommandContext(m.t.Context(), "sh", script, m.settings, m.connections, m.interfaces).CombinedOutput()
	require.NoError(m.t, err, string(out))
	return string(out)
}

func TestScriptTakesTheSettingsOfTheMachineItRunsOn(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "52:54:00:00:00:00", "52:54:00:aa:ba:02")
	require.Contains(t, m.run(), "host1")
	for _, name := range []string{"bond0", "bond0.404", "eth0", "eth1"} {
		info, err := os.Stat(filepath.Join(m.connections, name+".nmconnection"))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode(), "NetworkManager refuses files that others can read")
	}
	require.Equal(t, read(t, m.settings, "host1", "bond0.nmconnection"), read(t, m.connections, "bond0.nmconnection"))
}

func TestScriptLeavesAMachineNobodyKnowsAlone(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "52:54:00:00:00:00")
	require.Contains(t, m.run(), "no network settings for this machine")
	require.NoDirExists(t, m.connections)
}
