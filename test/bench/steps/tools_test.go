package steps_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/test/bench/netlab"
)

// toolsVariable names the set of tools that hosts have: nothing for the tools of this machine, rhcos for the tools of the live image of
// RHEL CoreOS alone.
const toolsVariable = "BENCH_TOOLS"

// machineTools is the search path of hosts that have the tools of this machine.
const machineTools = "/usr/sbin:/usr/bin:/sbin:/bin"

// foreign are programs that RHEL CoreOS lacks and that no step may need: openshift/os,
// common.yaml of release-4.14 to release-4.19, has dhcp-client among exclude-packages and
// none of the others; arping comes with iputils, but not on every image.
var foreign = []string{"arping", "biosdevname", "dhclient", "dmidecode", "fio", "ipmitool", "nmap", "smartctl"}

// rhcos are the programs of RHEL CoreOS by package: openshift/os, common.yaml and
// packages-*.yaml of release-4.14 to release-4.19, and the manifests of
// coreos/fedora-coreos-config that they include. Of large packages only the programs that
// an agent or installer could call.
var rhcos = map[string]string{
	"bash": "bash sh",
	"coreutils": "basename cat chcon chgrp chmod chown cksum comm cp cut date dd df dirname du echo env expr false fold head id " +
		"install join kill link ln ls md5sum mkdir mkfifo mknod mktemp mv nice nohup nproc od paste pathchk printenv printf pwd " +
		"readlink realpath rm rmdir seq sha256sum shred shuf sleep sort split stat stdbuf stty sync tac tail tee test timeout touch " +
		"tr true truncate tsort tty uname uniq unlink wc who whoami yes",
	"util-linux": "blkid blockdev dmesg fallocate findmnt flock fsfreeze getopt ionice last logger losetup lsblk lscpu lsmem " +
		"mkswap more mount mountpoint nsenter partx prlimit rev setpriv setsid sfdisk swapoff swapon taskset umount unshare wipefs",
	"systemd": "bootctl busctl hostnamectl journalctl localectl loginctl networkctl reboot shutdown systemctl systemd-analyze " +
		"systemd-cat systemd-detect-virt systemd-machine-id-setup systemd-run systemd-sysusers systemd-tmpfiles timedatectl udevadm",
	"iproute":                    "bridge ip ss tc",
	"iputils":                    "arping ping tracepath",
	"chrony":                     "chronyc chronyd",
	"NetworkManager":             "nm-online nmcli",
	"nmstate":                    "nmstatectl",
	"podman, skopeo, crun":       "conmon crun podman runc skopeo",
	"containers-common":          "netavark aardvark-dns fuse-overlayfs slirp4netns",
	"coreos-installer":           "coreos-installer",
	"ostree, rpm-ostree":         "ostree rpm-ostree",
	"curl, jq, rsync":            "curl jq rsync",
	"grep, sed, gawk, findutils": "awk egrep fgrep find gawk grep sed xargs",
	"tar, gzip, xz, zstd":        "gunzip gzip tar unxz xz xzcat zcat zstd",
	"procps-ng, psmisc":          "free fuser killall pgrep pkill ps sysctl top uptime vmstat",
	"kmod":                       "depmod insmod lsmod modinfo modprobe rmmod",
	"gdisk":                      "gdisk sgdisk",
	"lvm2, device-mapper":        "dmsetup lvm lvs pvremove pvs vgchange vgremove vgs",
	"mdadm":                      "mdadm",
	"device-mapper-multipath":    "multipath multipathd",
	"iscsi-initiator-utils":      "iscsiadm iscsid",
	"nvme-cli, sg3_utils":        "nvme sg_inq sg_logs",
	"cryptsetup, clevis":         "clevis cryptsetup",
	"xfsprogs, e2fsprogs":        "e2fsck mkfs.ext4 mkfs.xfs resize2fs tune2fs xfs_growfs xfs_repair",
	"dosfstools":                 "mkfs.vfat",
	"efibootmgr":                 "efibootmgr",
	"openssh":                    "scp ssh ssh-keygen sshd",
	"iptables, nftables":         "ip6tables iptables nft",
	"bind-utils":                 "dig host nslookup",
	"policycoreutils":            "restorecon semodule setenforce getenforce",
	"nmap-ncat, socat, strace":   "nc ncat socat strace",
	"hostname, less, which":      "hostname less which",
	"ethtool, pciutils":          "ethtool lspci",
	"dnsmasq":                    "dnsmasq",
}

// rhcosTools is a folder with links to the programs of rhcos that this machine has.
var rhcosTools = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(folder, "rhcos")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	for _, names := range rhcos {
		for name := range strings.FieldsSeq(names) {
			path, err := netlab.Find(name)
			if err != nil {
				continue // of another distribution; a step that needs it fails
			}
			if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
				return "", err
			}
		}
	}
	return dir, nil
})

// searchPath returns where a host looks for programs, after a folder of its own.
func (h *host) searchPath(t *testing.T) string {
	t.Helper()
	switch set := os.Getenv(toolsVariable); set {
	case "":
		h.traps(t)
		return machineTools
	case "rhcos":
		dir, err := rhcosTools()
		require.NoError(t, err)
		return dir
	default:
		require.Failf(t, "unknown tools", "%s: require rhcos or nothing, found %q", toolsVariable, set)
		return ""
	}
}

// traps adds programs under the foreign names: a step that calls one fails its test.
func (h *host) traps(t *testing.T) {
	t.Helper()
	called := filepath.Join(h.dir, "called")
	for _, name := range foreign {
		h.command(t, name, fmt.Sprintf("echo \"%s $*\" >>%s\nexit 127\n", name, called))
	}
	t.Cleanup(func() {
		content, err := os.ReadFile(called)
		require.ErrorIs(t, err, os.ErrNotExist, "the agent called programs that RHEL CoreOS lacks:\n%s", content)
	})
}
