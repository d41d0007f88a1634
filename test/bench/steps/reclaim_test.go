package steps_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
	"slipway/internal/wire"
)

const installedEntry = "title Installed system\nversion 1\noptions root=UUID=0 ostree=/ostree/boot.1\nlinux /ostree/vmlinuz\ninitrd " +
	"/ostree/initramfs\n"

const artifactServer = gateway + ":8888"

// installed gives the host a /boot with the entry of a system.
func (h *host) installed(t *testing.T, size string) {
	t.Helper()
	h.bootSize = size
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "installed.conf"), []byte(installedEntry), 0o644))
}

func artifactsRequest(t *testing.T) string {
	t.Helper()
	url := "http://" + artifactServer
	return argument(t, wire.DownloadBootArtifactsRequest{
		HostFsMountDir: "/host", KernelURL: url + "/kernel", InitrdURL: url + "/initrd", RootfsURL: url + "/rootfs",
	})
}

// bootInstalled starts a host that registered when it was discovered.
func (h *host) bootInstalled(t *testing.T) {
	t.Helper()
	h.Change(func() { h.Registered = true })
	h.boot(t, "--reclaim")
	h.Wait(t, "the first question", func() bool { return len(h.Polls) > 0 })
}

// TestInstalledHostGoesBackToTheDiscoveryImage runs a host whose /boot is a file system of its own, mounted read-only, as in an installed
// CoreOS.
func TestInstalledHostGoesBackToTheDiscoveryImage(t *testing.T) {
	t.Parallel()
	h := newHost(t, "reclaim")
	mux := http.NewServeMux()
	size := 1 << 20
	for _, name := range []string{"kernel", "initrd"} {
		mux.HandleFunc(
			"GET /"+name,
			func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(strings.Repeat(name[:1], size))) },
		)
	}
	h.lan.serve(t, artifactServer, mux).Start()
	h.installed(t, "16M")
	h.command(t, "systemctl", "echo \"$@\" >>\"$DIR/systemctl\"\n")
	h.bootInstalled(t)
	reply := h.ask(t, wire.StepTypeRebootForReclaim, `{"host_fs_mount_dir":"/host"}`)
	require.NotZero(t, reply.ExitCode, "there is nothing to start yet")
	require.NoFileExists(t, filepath.Join(h.dir, "systemctl"))

	answer[struct{}](t, h, wire.StepTypeDownloadBootArtifacts, artifactsRequest(t))
	for name, letter := range map[string]string{"vmlinuz": "k", "initrd": "i"} {
		content, err := os.ReadFile(h.place("/boot/discovery/" + name))
		require.NoError(t, err)
		require.Equal(t, strings.Repeat(letter, size), string(content))
	}
	entries, err := os.ReadDir(h.place("/boot/loader/entries"))
	require.NoError(t, err)
	require.Len(t, entries, 2, "nothing else for the loader to find")
	require.Equal(t, "00-assisted-discovery.conf", entries[0].Name(), "loaders take names with numbers first")
	entry, err := os.ReadFile(h.place("/boot/loader/entries/00-assisted-discovery.conf"))
	require.NoError(t, err)
	for line := range strings.Lines(string(entry)) {
		if key, value, _ := strings.Cut(strings.TrimSpace(line), " "); key == "linux" || key == "initrd" {
			require.FileExists(t, h.place("/boot"+value), "as the loader sees it")
		}
	}
	require.Contains(t, string(entry), "coreos.live.rootfs_url=http://"+artifactServer+"/rootfs\n")
	installed, err := os.ReadFile(h.place("/boot/loader/entries/ostree-1.conf"))
	require.NoError(t, err)
	require.Equal(t, installedEntry, string(installed))

	answer[struct{}](t, h, wire.StepTypeRebootForReclaim, `{"host_fs_mount_dir":"/host"}`)
	await.True(t, func() bool {
		content, err := os.ReadFile(filepath.Join(h.dir, "systemctl"))
		return err == nil && string(content) == "reboot\n"
	})
	require.Empty(t, h.versions(), "an installed host does not register")
}

// TestFullBootPartitionIsMadeRoomIn runs a host whose older system takes the room.
func TestFullBootPartitionIsMadeRoomIn(t *testing.T) {
	t.Parallel()
	h := newHost(t, "fullboot")
	h.lan.serve(t, artifactServer, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat("x", 3<<20)))
	})).Start()
	h.installed(t, "8M")
	h.command(t, "rpm-ostree", "echo \"$@\" >>\"$DIR/rpm-ostree\"\nrm -f /boot/ostree-old\n")
	h.bootInstalled(t)
	require.NoError(
		t,
		h.enter("sh", "-c", "mount -o remount,rw /boot; head -c 4194304 /dev/zero >/boot/ostree-old; mount -o remount,ro /boot"),
	)
	answer[struct{}](t, h, wire.StepTypeDownloadBootArtifacts, artifactsRequest(t))
	said, err := os.ReadFile(filepath.Join(h.dir, "rpm-ostree"))
	require.NoError(t, err)
	require.Equal(t, "cleanup --os=rhcos -r\n", string(said))
	file, err := os.Stat(h.place("/boot/discovery/initrd"))
	require.NoError(t, err)
	require.EqualValues(t, 3<<20, file.Size())
}
