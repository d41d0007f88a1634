package staticnet_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/cavaliergopher/cpio"
	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/staticnet"
	"slipway/internal/model"
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
		out["/"+header.Name] = string(content) + header.Linkname
	}
}

func TestInitrdBringsSettingsAndProxy(t *testing.T) {
	t.Parallel()
	hosts := parse(t, example(t, "static-addresses-of-both-families"), example(t, "DHCP-for-IPv4"))
	archive, err := staticnet.MinimalInitrd(
		hosts,
		model.Proxy{HTTP: "http://ann:100%25@proxy.example:3128", NoProxy: "example.com,\r\n 10.0.0.0/8\n"}, // as older versions stored it
		staticnet.MethodKeyfiles,
		0,
	)
	require.NoError(t, err)
	files := unpack(t, archive)
	require.Equal(
		t,
		string(keyfiles(t, example(t, "static-addresses-of-both-families"))["eth0.nmconnection"]),
		files["/etc/assisted/network/host0/eth0.nmconnection"],
	)
	require.Equal(t, "52:54:00:aa:bb:01=eth0\n52:54:00:aa:bb:02=eth1\n", files["/etc/assisted/network/host0/mac_interface.ini"])
	require.Equal(t, "52:54:00:aa:ba:01=eth0\n52:54:00:aa:ba:02=eth1\n", files["/etc/assisted/network/host1/mac_interface.ini"])
	require.Equal(t, string(staticnet.Script(staticnet.MethodKeyfiles)), files[staticnet.ScriptPath])
	require.Equal(t, "[Service]\nEnvironment=\"http_proxy=http://ann:100%%25@proxy.example:3128\"\n"+
		"Environment=\"no_proxy=example.com,10.0.0.0/8\"\n",
		files["/etc/systemd/system/coreos-livepxe-rootfs.service.d/10-slipway-proxy.conf"])
	unit := files["/etc/systemd/system/slipway-static-network.service"]
	require.Contains(t, unit, "ExecStart=/bin/sh "+staticnet.ScriptPath+" "+staticnet.Folder+" /run/NetworkManager/system-connections\n")
	require.Contains(t, unit, "Before=nm-initrd.service")
	require.Equal(
		t,
		"/etc/systemd/system/slipway-static-network.service",
		files["/etc/systemd/system/initrd.target.wants/slipway-static-network.service"],
	)
}

func TestInitrdBringsNMStateToHostsThatApplyIt(t *testing.T) {
	t.Parallel()
	archive, err := staticnet.MinimalInitrd(parse(t, example(t, "a-VLAN-on-a-bond")), model.Proxy{}, staticnet.MethodNMState, 0)
	require.NoError(t, err)
	files := unpack(t, archive)
	require.Contains(t, files["/etc/assisted/network/host0/network.yml"], "<52:54:00:aa:bb:01>")
	require.Contains(t, files, "/etc/assisted/network/host0/eth0.nmconnection", "for an initramfs without nmstatectl")
	require.Equal(t, string(staticnet.Script(staticnet.MethodNMState)), files[staticnet.ScriptPath])
}

func TestInitrdIsMissingWhenNothingIsNeeded(t *testing.T) {
	t.Parallel()
	archive, err := staticnet.MinimalInitrd(nil, model.Proxy{}, staticnet.MethodKeyfiles, 0)
	require.NoError(t, err)
	require.Nil(t, archive)
}

func TestInitrdThatNoImageHasRoomForIsRefused(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 3<<19)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	_, err := staticnet.MinimalInitrd(nil, model.Proxy{NoProxy: hex.EncodeToString(noise)}, staticnet.MethodKeyfiles, 0)
	require.ErrorIs(t, err, model.ErrConflict)
	require.ErrorContains(t, err, "require at most 1048576 bytes packed")
}
