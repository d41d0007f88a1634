package disks_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/installer"
	"slipway/internal/client"
	"slipway/internal/wire"
)

// image is a disk image in the layout of CoreOS: its partition boot holds what
// coreos-installer edits, its partition root something to write.
const image = "/tmp/coreos.raw"

const makeImage = `
	mkdir -p /tmp/b/loader/entries /tmp/b/ostree /tmp/b/grub2
	echo 'title Bench
version 1
options ignition.platform.id=metal $ignition_firstboot mitigations=auto,nosmt
linux /ostree/vmlinuz' >/tmp/b/loader/entries/ostree-1-bench.conf
	echo '# CONSOLE-SETTINGS-START
# CONSOLE-SETTINGS-END' >/tmp/b/grub2/grub.cfg
	touch /tmp/b/ignition.firstboot
	truncate -s 256M /tmp/coreos.raw
	sgdisk -n1:2048:+1M -c1:BIOS-BOOT -t1:ef02 -n2:0:+16M -c2:EFI-SYSTEM -t2:ef00 -n3:0:+64M -c3:boot -n4:0:0 -c4:root \
		/tmp/coreos.raw >/dev/null
	truncate -s 64M /tmp/boot; mkfs.ext4 -q -L boot -d /tmp/b /tmp/boot
	dd if=/tmp/boot of=/tmp/coreos.raw bs=1M seek=18 conv=notrunc 2>/dev/null; rm /tmp/boot
	dd if=/dev/urandom of=/tmp/coreos.raw bs=1M seek=82 count=160 conv=notrunc 2>/dev/null`

const ignition = `{"ignition":{"version":"3.2.0"}}`

// host is an installer with a service that keeps what it receives.
type host struct {
	*installer.Installer
	mu       sync.Mutex
	progress []int
}

func newHost(t *testing.T) *host {
	t.Helper()
	inGuest(t)
	if _, err := exec.LookPath("coreos-installer"); err != nil {
		t.Skip("SKIP: the bench's system was built without coreos-installer")
	}
	if _, err := os.Stat(image); err != nil {
		sh(t, makeImage)
	}
	h := &host{}
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var report wire.HostProgress
		_ = json.NewDecoder(r.Body).Decode(&report)
		if percent, err := strconv.Atoi(strings.TrimSuffix(*report.ProgressInfo, "%")); err == nil {
			h.mu.Lock()
			h.progress = append(h.progress, percent)
			h.mu.Unlock()
		}
	}))
	t.Cleanup(service.Close)
	h.Installer = newInstaller(installer.Options{Client: client.New(client.Options{BaseURL: service.URL})})
	require.NoError(t, os.MkdirAll("/opt/install-dir", 0o700))
	require.NoError(t, os.WriteFile("/opt/install-dir/worker-"+uuid.Nil.String()+".ign", []byte(ignition), 0o600))
	fresh(t)
	return h
}

func request(t *testing.T, args ...string) *wire.InstallCmdRequest {
	t.Helper()
	text, err := json.Marshal(append([]string{"--image-file", image, "--insecure", "--offline"}, args...))
	require.NoError(t, err)
	return &wire.InstallCmdRequest{BootDevice: "/dev/disk/by-id/virtio-disk0", Role: "worker", InstallerArgs: string(text)}
}

// boot mounts the boot partition that was written and returns where.
func boot(t *testing.T) string {
	t.Helper()
	sh(t, "udevadm settle; mkdir -p /mnt/boot; mount -o ro /dev/vda3 /mnt/boot")
	t.Cleanup(func() { sh(t, "umount /mnt/boot") })
	return "/mnt/boot"
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return string(content)
}

func TestGuestImageIsWrittenByTheRealProgram(t *testing.T) {
	h := newHost(t)
	keyfiles := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(keyfiles, "eth0.nmconnection"), []byte("[connection]\nid=eth0\n"), 0o600))
	report, err := h.WriteImage(t.Context(), request(t, "--append-karg", "ip=eth0:dhcp", "--delete-karg", "mitigations=auto,nosmt",
		"--copy-network", "--network-dir", keyfiles))
	require.NoError(t, err)
	require.Equal(t, "/dev/vda", report.Device)
	dir := boot(t)
	require.Equal(t, ignition, read(t, dir, "ignition/config.ign"))
	info, err := os.Stat(filepath.Join(dir, "ignition/config.ign"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	entry := read(t, dir, "loader/entries/ostree-1-bench.conf")
	require.Contains(t, entry, "ip=eth0:dhcp")
	require.NotContains(t, entry, "mitigations")
	require.Contains(t, read(t, dir, "coreos-firstboot-network/eth0.nmconnection"), "id=eth0")
	h.mu.Lock()
	defer h.mu.Unlock()
	require.IsIncreasing(t, h.progress)
	require.Equal(t, 100, h.progress[len(h.progress)-1])
	t.Log(h.progress)
}

func TestGuestFailureTellsItsCause(t *testing.T) {
	for name, c := range map[string]struct {
		make, want string
		change     func(*wire.InstallCmdRequest)
	}{
		"a file system of the disk is in use": {
			make: two + `two /dev/vda; mkfs.ext4 -q /dev/vda1; mkdir -p /mnt/used; mount /dev/vda1 /mnt/used`,
			want: "/dev/vda1 mounted on /mnt/used",
		},
		"LVM uses the disk": {
			make: `pvcreate -qq /dev/vda; vgcreate -qq vg0 /dev/vda; lvcreate -qq -y -L 20M -n root vg0`, want: "busy",
		},
		"RAID uses a partition": {
			make: two + `two /dev/vda; mdadm -q --create --run /dev/md0 --level=1 --raid-devices=2 --assume-clean /dev/vda1 /dev/vda2`,
			want: "/dev/vda1",
		},
		"the disk is too small": {
			want: "space", change: func(r *wire.InstallCmdRequest) { r.BootDevice = "/dev/vdd" },
		},
		"an argument that the program does not know": {
			want: "--no-such-thing", change: func(r *wire.InstallCmdRequest) { r.InstallerArgs = `["--no-such-thing"]` },
		},
		"the image is missing": {
			want: "no such image", change: func(r *wire.InstallCmdRequest) { r.InstallerArgs = `["-f","/tmp/no such image"]` },
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			sh(t, c.make)
			req := request(t)
			if c.change != nil {
				c.change(req)
			}
			_, err := h.WriteImage(t.Context(), req)
			t.Log(err)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "Read disk")
			require.NotContains(t, err.Error(), "backtrace")
			require.NotContains(t, err.Error(), "libcoreinst")
		})
	}
}

// whenWritten calls cut as soon as some MiB have reached a disk (sysfs, block/stat: the
// seventh number are sectors written).
func whenWritten(ctx context.Context, disk string, mib int, cut func()) {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	written := func() int {
		content, _ := os.ReadFile("/sys/block/" + disk + "/stat")
		sectors, _ := strconv.Atoi(strings.Fields(string(content))[6])
		return sectors / 2048
	}
	for before := written(); ctx.Err() == nil; <-look.C {
		if written() >= before+mib {
			cut()
		}
	}
}

func TestGuestHalfWrittenDiskIsWrittenAgain(t *testing.T) {
	h := newHost(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go whenWritten(ctx, "vda", 30, cancel)
	_, err := h.WriteImage(ctx, request(t))
	require.ErrorIs(t, err, context.Canceled)
	report, err := h.CleanDisk(t.Context(), request(t))
	require.NoError(t, err)
	requireFree(t, "/dev/vda", report)
	_, err = h.WriteImage(t.Context(), request(t))
	require.NoError(t, err)
	require.Equal(t, ignition, read(t, boot(t), "ignition/config.ign"))
}

func TestGuestSavedPartitionStays(t *testing.T) {
	h := newHost(t)
	sh(t, `sgdisk -n9:+700M:+50M -c9:data-keep /dev/vda >/dev/null; udevadm settle; mkfs.ext4 -q -L keep /dev/vda9
		mkdir -p /mnt/keep; mount /dev/vda9 /mnt/keep; echo precious >/mnt/keep/file; umount /mnt/keep`)
	req := request(t, "--save-partlabel", "data-*")
	req.SkipInstallationDiskCleanup = true // as the service says for such arguments
	report, err := h.CleanDisk(t.Context(), req)
	require.NoError(t, err)
	require.Len(t, report.Skipped, 1)
	_, err = h.WriteImage(t.Context(), req)
	require.NoError(t, err)
	sh(t, "udevadm settle; mount -o ro /dev/disk/by-partlabel/data-keep /mnt/keep")
	t.Cleanup(func() { sh(t, "umount /mnt/keep") })
	require.Equal(t, "precious\n", read(t, "/mnt/keep/file"))
	require.Equal(t, ignition, read(t, boot(t), "ignition/config.ign"))
}
