package installer_test

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/installer"
	"slipway/internal/platform/hostexec"
	"slipway/internal/testing/hostexectest"
)

// bootEntries is the output of efibootmgr -v: of version 17, and of version 18 in the last line.
const bootEntries = "BootCurrent: 0001\nTimeout: 0 seconds\nBootOrder: 0003,0001,0000\n" +
	"Boot0000* UiApp\tFvVol(7cb8bdc9-f8eb-4f34-aaea-3ee4af6516a1)/FvFile(462caa21-7614-4503-836e-8ab6f4662331)\n" +
	"Boot0001* UEFI QEMU DVD-ROM QM00003 \tPciRoot(0x0)/Pci(0x1,0x1)/Ata(1,0,0)N.....YM....R,Y.\n" +
	"Boot0003* Red Hat Enterprise Linux\tHD(2,GPT,AAAA0000-0000-0000-0000-000000000001,0x1000,0x10000)/File(\\EFI\\redhat\\SHIM)\n" +
	"Boot0004  Red Hat Enterprise Linux\tHD(2,GPT,aaaa0000-0000-0000-0000-000000000002,0x1000,0x10000)/File(\\EFI\\redhat\\SHIM)\n" +
	"Boot0005* Red Hat Enterprise Linux\tHD(1,GPT,aaaa0000-0000-0000-0000-000000000003,0x800,0x12c000)/File(\\EFI\\redhat\\SHIM)\n" +
	"Boot0007* Red Hat Enterprise Linux\tHD(1,GPT,aaaa0000-0000-0000-0000-000000000004,0x800,0x12c000)/File(\\EFI\\redhat\\SHIM)\n" +
	"Boot0006* Fedora\tHD(2,GPT,aaaa0000-0000-0000-0000-000000000001,0x800,0x12c000)/File(\\EFI\\fedora\\SHIM)\n" +
	"Boot000A* Red Hat Enterprise Linux\tHD(2,GPT,aaaa0000-0000-0000-0000-000000000001,0x1000,0x10000)/\\EFI\\redhat\\SHIM\n" +
	"Boot000B* Red Hat Enterprise Linux\tMAC(525400be9c01,1)/IPv4(0.0.0.0,0,DHCP)\n"

func shim(t *testing.T) string {
	t.Helper()
	name, known := map[string]string{"amd64": "shimx64.efi", "arm64": "shimaa64.efi"}[runtime.GOARCH]
	if !known {
		t.Skip("no EFI on this architecture")
	}
	return name
}

func TestBootOrderIsSetWhereFirmwareHasOne(t *testing.T) {
	t.Parallel()
	h := newHost(t, map[string]hostexectest.Answer{
		"efibootmgr": hostexectest.Fails(2, "no space"), "umount": hostexectest.Prints(""), "mount": hostexectest.Prints(""),
		"lsblk": hostexectest.Prints("c12a7328-f81f-11d2-ba4b-00a0c93ec93b aaaa0000-0000-0000-0000-000000000001 /dev/sda2\n"),
	})
	i := newInstaller(newService(t), h, nil, func(o *installer.Options) {
		o.Sleep = func(context.Context, time.Duration) error { return nil }
	})
	i.SetBootOrder(t.Context(), request("master", 3))
	require.Empty(t, h.Lines(), "a BIOS has no order to set")
	require.NoError(t, os.MkdirAll(h.root.Path("/sys/firmware/efi"), 0o755))
	i.SetBootOrder(t.Context(), request("master", 3))
	require.Equal(t, []string{
		"lsblk --noheadings --raw --output PARTTYPE,PARTUUID,PATH /dev/sda",
		"efibootmgr -v", "mount -o ro /dev/sda2 /run/slipway/efi", "umount /run/slipway/efi",
		`efibootmgr -c -d /dev/sda -p 2 -L Red Hat Enterprise Linux -l \EFI\redhat\` + shim(t),
	}, slices.Compact(h.Lines()))
}

func TestBootOrderHasNoEntriesOfEarlierInstallations(t *testing.T) {
	t.Parallel()
	h := newHost(t, map[string]hostexectest.Answer{
		"efibootmgr": hostexectest.Prints(""), "efibootmgr -v": hostexectest.Prints(strings.ReplaceAll(bootEntries, "SHIM", shim(t))),
		"lsblk": hostexectest.Prints(
			"  /dev/sda\n21686148-6449-6e6f-744e-656564454649 aaaa0000-0000-0000-0000-000000000009 /dev/sda1\n" +
				"c12a7328-f81f-11d2-ba4b-00a0c93ec93b aaaa0000-0000-0000-0000-000000000001 /dev/sda2\n",
		),
		"mount": hostexectest.Prints(""), "umount": hostexectest.Prints(""),
	})
	require.NoError(t, os.MkdirAll(h.root.Path("/sys/firmware/efi"), 0o755))
	h.write(t, "/dev/disk/by-partuuid/aaaa0000-0000-0000-0000-000000000001", "")
	h.write(t, "/dev/disk/by-partuuid/aaaa0000-0000-0000-0000-000000000003", "") // another disk
	newInstaller(newService(t), h, nil).SetBootOrder(t.Context(), request("master", 3))
	require.Equal(t, []string{
		"lsblk --noheadings --raw --output PARTTYPE,PARTUUID,PATH /dev/sda", "efibootmgr -v",
		"efibootmgr -q -b 0003 -B", "efibootmgr -q -b 0004 -B", "efibootmgr -q -b 000A -B",
		"mount -o ro /dev/sda2 /run/slipway/efi", "umount /run/slipway/efi", // it is empty: the usual folder is taken
		`efibootmgr -c -d /dev/sda -p 2 -L Red Hat Enterprise Linux -l \EFI\redhat\` + shim(t),
	}, h.Lines())
}

func TestBootOrderKeepsEntriesOfDisksItCannotSee(t *testing.T) {
	t.Parallel()
	h := newHost(t, map[string]hostexectest.Answer{
		"efibootmgr": hostexectest.Prints(""), "efibootmgr -v": hostexectest.Prints(strings.ReplaceAll(bootEntries, "SHIM", shim(t))),
		"lsblk": hostexectest.Prints("c12a7328-f81f-11d2-ba4b-00a0c93ec93b aaaa0000-0000-0000-0000-000000000001 /dev/sda2\n"),
		"mount": hostexectest.Prints(""), "umount": hostexectest.Prints(""),
	})
	require.NoError(t, os.MkdirAll(h.root.Path("/sys/firmware/efi"), 0o755))
	i := newInstaller(newService(t), h, nil, func(o *installer.Options) {
		o.Sleep = func(context.Context, time.Duration) error { return nil }
	})
	i.SetBootOrder(t.Context(), request("master", 3)) // before udev made any link, even for the disk just written
	require.Zero(t, h.Count("efibootmgr -q -b 0004 -B"), "whether its disk exists is unknown")
	require.Equal(t, 1, h.Count("efibootmgr -q -b 0003 -B"))
	h.write(t, "/dev/disk/by-partuuid/aaaa0000-0000-0000-0000-000000000001", "")
	i.SetBootOrder(t.Context(), request("master", 3))
	require.Equal(t, 1, h.Count("efibootmgr -q -b 0004 -B"))
	require.Zero(t, h.Count("efibootmgr -q -b 0007 -B"), "no CoreOS begins at the first partition")
}

func TestBootOrderNamesTheFolderThatTheLoaderIsIn(t *testing.T) {
	t.Parallel()
	for vendor, other := range map[string]string{"redhat": "fedora", "centos": "BOOT"} {
		h := newHost(t, map[string]hostexectest.Answer{
			"efibootmgr": hostexectest.Prints(""),
			"lsblk":      hostexectest.Prints("c12a7328-f81f-11d2-ba4b-00a0c93ec93b aaaa0000-0000-0000-0000-000000000001 /dev/sda2\n"),
			"umount":     hostexectest.Prints(""),
		})
		// An earlier installation was of the other kind: its entry goes too.
		h.On("efibootmgr -v", hostexectest.Prints("Boot0004  Red Hat Enterprise Linux\tHD(2,GPT,aaaa0000-0000-0000-0000-000000000001,"+
			"0x1000,0x10000)/File(\\EFI\\centos\\"+shim(t)+")\n"))
		h.On("mount", func(context.Context, hostexec.Cmd) (hostexec.Result, error) {
			h.write(t, "/run/slipway/efi/EFI/"+vendor+"/"+shim(t), "")
			h.write(t, "/run/slipway/efi/EFI/"+other+"/"+shim(t), "")
			return hostexec.Result{}, nil
		})
		require.NoError(t, os.MkdirAll(h.root.Path("/sys/firmware/efi"), 0o755))
		newInstaller(newService(t), h, nil).SetBootOrder(t.Context(), request("master", 3))
		require.Equal(t, []string{
			"lsblk --noheadings --raw --output PARTTYPE,PARTUUID,PATH /dev/sda", "efibootmgr -v", "efibootmgr -q -b 0004 -B",
			"mount -o ro /dev/sda2 /run/slipway/efi", "umount /run/slipway/efi",
			`efibootmgr -c -d /dev/sda -p 2 -L Red Hat Enterprise Linux -l \EFI\` + vendor + `\` + shim(t),
		}, h.Lines())
	}
}

func TestBootOrderStaysWhereTheDiskStartedTheHost(t *testing.T) {
	t.Parallel()
	h := newHost(t, map[string]hostexectest.Answer{"efibootmgr": hostexectest.Prints("")})
	require.NoError(t, os.MkdirAll(h.root.Path("/sys/firmware/efi"), 0o755))
	req := request("master", 3)
	req.CoreosImage = "registry/coreos:1"
	newInstaller(newService(t), h, nil).SetBootOrder(t.Context(), req)
	require.Empty(t, h.Lines())
}

func TestParseBootEntriesReadsBothVersions(t *testing.T) {
	t.Parallel()
	entries := installer.ParseBootEntries(bootEntries)
	require.Len(t, entries, 9)
	require.Equal(t, installer.BootEntry{Number: "0001", Label: "UEFI QEMU DVD-ROM QM00003"}, entries[1])
	want := installer.BootEntry{
		Number:          "0003",
		Label:           "Red Hat Enterprise Linux",
		PartitionNumber: "2",
		Partition:       "aaaa0000-0000-0000-0000-000000000001",
		Loader:          `\EFI\redhat\SHIM`,
	}
	require.Equal(t, want, entries[2])
	want.Number = "000A"
	require.Equal(t, want, entries[7])
	require.Empty(t, installer.ParseBootEntries("EFI variables are not supported on this system.\n"))
}
