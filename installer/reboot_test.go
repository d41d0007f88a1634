package installer_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/installer"
	"slipway/internal/run/runtest"
)

func TestRebootGoesTheWayOfTheHost(t *testing.T) {
	t.Parallel()
	h := newHost(t, map[string]runtest.Answer{"shutdown": runtest.Prints(""), "systemctl": runtest.Prints("")})
	i := newInstaller(newService(t), h, nil)
	require.NoError(t, i.Reboot(t.Context(), request("master", 3)))
	require.NoError(t, i.Reboot(t.Context(), request("bootstrap", 1)))
	h.write(t, "/etc/systemd/system/ironic-agent.service", "")
	require.NoError(t, i.Reboot(t.Context(), request("master", 3)))
	require.Equal(t, []string{"shutdown -r +1", "shutdown -r now", "systemctl stop agent.service"}, h.Lines())
	h.On("systemctl", runtest.Fails(1, "no"))
	require.ErrorContains(t, i.Reboot(t.Context(), request("master", 3)), "reboot the host")
}

func TestBootOrderIsSetWhereFirmwareHasOne(t *testing.T) {
	t.Parallel()
	shims := map[string]string{"amd64": "shimx64.efi", "arm64": "shimaa64.efi"}
	shim, known := shims[runtime.GOARCH]
	if !known {
		t.Skip("no EFI on this architecture")
	}
	h := newHost(t, map[string]runtest.Answer{"efibootmgr": runtest.Fails(2, "no space")})
	i := newInstaller(newService(t), h, nil)
	i.SetBootOrder(t.Context(), request("master", 3))
	require.Empty(t, h.Lines(), "a BIOS has no order to set")
	require.NoError(t, os.MkdirAll(h.root.Path("/sys/firmware/efi"), 0o755))
	i.SetBootOrder(t.Context(), request("master", 3))
	require.Equal(t, []string{`efibootmgr -c -d /dev/sda -p 2 -L Red Hat Enterprise Linux -l \EFI\redhat\` + shim}, h.Lines())
}

func TestSendLogsPacksWhatItFinds(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, map[string]runtest.Answer{
		"journalctl --no-pager --output=short-iso --unit=agent.service":    runtest.Prints("agent says\n"),
		"journalctl --no-pager --output=short-iso --unit=bootkube.service": runtest.Prints("bootkube says\n"),
		"dmesg":                              runtest.Fails(1, "not permitted"),
		"/usr/local/bin/installer-gather.sh": runtest.Prints("gathered\n"),
	})
	h.write(t, "/usr/local/bin/installer-gather.sh", "#!/bin/bash\n")
	h.write(t, "/root/log-bundle-"+clusterID.String()+".tar.gz", "bundle")
	err := newInstaller(s, h, nil).SendLogs(t.Context(), installer.LogsRequest{
		ClusterID: clusterID, InfraEnvID: envID, HostID: hostID, Bootstrap: true, Gather: true, MasterIPs: []string{"192.0.2.11"},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"requested", "collecting", "completed"}, s.logs)
	files := unpack(t, s.archive)
	folder := hostID.String() + "/"
	require.Equal(t, "agent says\n", files[folder+"agent.log"])
	require.Equal(t, "bootkube says\n", files[folder+"bootkube.log"])
	require.Contains(t, files[folder+"dmesg.log"], "exit status 1: not permitted")
	require.Contains(t, files[folder+"lsblk.txt"], "no such command")
	require.Equal(t, "bundle", files[folder+"log-bundle-"+clusterID.String()+".tar.gz"])
	require.Equal(t, 1, h.Count("/usr/local/bin/installer-gather.sh --id "+clusterID.String()+" 192.0.2.11"))
}

func TestPrepareRebootGoesOnWithoutLogs(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, nil)
	s.Close()
	ctx := t.Context()
	require.NoError(t, newInstaller(s, h, nil, func(o *installer.Options) {
		o.FarewellLimit = 1 // nanosecond: the service is gone anyway
	}).PrepareReboot(ctx, request("master", 3)))
}

func unpack(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	compressed, err := gzip.NewReader(bytes.NewReader(archive))
	require.NoError(t, err)
	files := map[string]string{}
	for reader := tar.NewReader(compressed); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		content, err := io.ReadAll(reader)
		require.NoError(t, err)
		files[header.Name] = string(content)
	}
}
