package installer_test

import (
	"context"
	"maps"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/installer"
	"slipway/internal/platform/hostexec"
	"slipway/internal/testing/hostexectest"
)

const (
	efiListed  = "  /dev/sda\nc12a7328-f81f-11d2-ba4b-00a0c93ec93b aaaa0000-0000-0000-0000-000000000001 /dev/sda2\n"
	efiCreated = `efibootmgr -c -d /dev/sda -p 2 -L Red Hat Enterprise Linux -l \EFI\`
	efiLink    = "/dev/disk/by-partuuid/aaaa0000-0000-0000-0000-000000000001"
)

// inTurn answers the calls of a command one after the other, the last one again and again.
func inTurn(answers ...hostexectest.Answer) hostexectest.Answer {
	return func(ctx context.Context, c hostexec.Cmd) (hostexec.Result, error) {
		answer := answers[0]
		if len(answers) > 1 {
			answers = answers[1:]
		}
		return answer(ctx, c)
	}
}

// efiHost makes a host with UEFI whose partition has one loader once it is mounted. Pauses are added up.
func efiHost(t *testing.T, loader string, commands map[string]hostexectest.Answer) (h *host, i *installer.Installer, slept *time.Duration) {
	t.Helper()
	all := map[string]hostexectest.Answer{
		"efibootmgr": hostexectest.Prints(""), "lsblk": hostexectest.Prints(efiListed),
		"mount": hostexectest.Prints(""), "umount": hostexectest.Prints(""),
	}
	for command, answer := range commands {
		all[command] = answer
	}
	h = newHost(t, all)
	require.NoError(t, os.MkdirAll(h.root.Path("/sys/firmware/efi"), 0o755))
	h.write(t, "/run/slipway/efi/EFI/"+loader, "")
	slept = new(time.Duration)
	return h, newInstaller(newService(t), h, nil, func(o *installer.Options) {
		o.Sleep = func(ctx context.Context, d time.Duration) error { *slept += d; return ctx.Err() }
	}), slept
}

func TestBootOrderWaitsForThePartition(t *testing.T) {
	t.Parallel()
	notYet := hostexectest.Prints("  /dev/sda\n")
	noDevice := hostexectest.Fails(32, "special device /dev/sda2 does not exist")
	noID := hostexectest.Prints("c12a7328-f81f-11d2-ba4b-00a0c93ec93b  /dev/sda2\n")
	for name, commands := range map[string]map[string]hostexectest.Answer{
		"is not listed at first":     {"lsblk": inTurn(notYet, hostexectest.Prints(efiListed))},
		"is listed the fourth time":  {"lsblk": inTurn(notYet, notYet, notYet, hostexectest.Prints(efiListed))},
		"has no id at first":         {"lsblk": inTurn(noID, hostexectest.Prints(efiListed))},
		"makes lsblk fail at first":  {"lsblk": inTurn(hostexectest.Fails(32, "not a block device"), hostexectest.Prints(efiListed))},
		"has no device at first":     {"mount": inTurn(noDevice, hostexectest.Prints(""))},
		"is there":                   {},
		"was an entry's":             {"efibootmgr -v": staleEntry(t, "redhat", "1"), "lsblk": inTurn(notYet, hostexectest.Prints(efiListed))},
		"was another vendor's":       {"efibootmgr -v": staleEntry(t, "scos", "1")},
		"comes after the one before": {"efibootmgr -v": staleEntry(t, "centos", "2")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, i, slept := efiHost(t, "centos/"+shim(t), commands)
			h.write(t, efiLink, "")
			i.SetBootOrder(t.Context(), request("master", 3))
			require.Contains(t, h.Lines(), efiCreated+`centos\`+shim(t))
			_, stale := commands["efibootmgr -v"]
			require.Equal(t, stale, h.Count("efibootmgr -q -b 0004 -B") == 1)
			require.LessOrEqual(t, *slept, 20*time.Second)
		})
	}
}

func staleEntry(t *testing.T, vendor, partition string) hostexectest.Answer {
	t.Helper()
	return hostexectest.Prints("Boot0004* Red Hat Enterprise Linux\tHD(2,GPT,aaaa0000-0000-0000-0000-00000000000" + partition +
		",0x1000,0x10000)/File(\\EFI\\" + vendor + "\\" + shim(t) + ")\n")
}

// Firmware may refuse a variable while it is busy with the one before, and udev renews the links of a disk that was just written.
func TestBootOrderIsSetByFirmwareThatIsBusy(t *testing.T) {
	t.Parallel()
	const busy, link = "Could not prepare Boot variable: Interrupted system call", "/dev/disk/by-id/wwn-0x1"
	type answers map[string]hostexectest.Answer
	refused := hostexectest.Fails(5, busy)
	done := hostexectest.Prints("")
	create := "efibootmgr -c -d " + link
	for name, c := range map[string]struct {
		commands answers
		after    time.Duration // until the link of the disk is back
		created  int
		removed  int
		slept    time.Duration
	}{
		"that the firmware takes":            {nil, 0, 1, 1, 0},
		"that it refuses once":               {answers{create: inTurn(refused, done)}, 0, 2, 1, 2 * time.Second},
		"that it refuses always":             {answers{create: refused}, 0, 4, 1, 6 * time.Second},
		"whose list it refuses once":         {answers{"efibootmgr -v": inTurn(refused, staleEntry(t, "centos", "1"))}, 0, 1, 1, 2 * time.Second},
		"of which it keeps the old one once": {answers{"efibootmgr -q": inTurn(refused, done)}, 0, 1, 2, 2 * time.Second},
		"whose link is back after a moment":  {nil, 4 * time.Second, 1, 1, 4 * time.Second},
		"whose link does not come back":      {nil, time.Hour, 0, 0, 20 * time.Second},
		"without the program":                {answers{create: hostexectest.Fails(127, "not found")}, 0, 1, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			commands := answers{"efibootmgr -v": staleEntry(t, "centos", "1")}
			maps.Copy(commands, c.commands)
			h, i, slept := efiHost(t, "centos/"+shim(t), commands)
			appear := func() {
				if *slept >= c.after {
					h.write(t, link, "")
				}
			}
			appear()
			i.Sleep = func(_ context.Context, d time.Duration) error {
				*slept += d
				appear()
				return nil
			}
			req := request("master", 3)
			req.BootDevice = link
			i.SetBootOrder(t.Context(), req)
			require.Equal(t, c.created, h.Count(create))
			require.Equal(t, c.removed, h.Count("efibootmgr -q -b 0004 -B"))
			require.Equal(t, c.slept, *slept)
		})
	}
}

func TestBootOrderWaitsForUdevBeforeItRemovesEntries(t *testing.T) {
	t.Parallel()
	h, i, slept := efiHost(t, "redhat/"+shim(t), map[string]hostexectest.Answer{"efibootmgr -v": staleEntry(t, "redhat", "2")})
	i.Sleep = func(context.Context, time.Duration) error {
		*slept += time.Second
		if *slept == 3*time.Second {
			h.write(t, efiLink, "")
		}
		return nil
	}
	i.SetBootOrder(t.Context(), request("master", 3))
	require.Equal(t, 1, h.Count("efibootmgr -q -b 0004 -B"))
}

func TestBootOrderIsSetWithoutThePartition(t *testing.T) {
	t.Parallel()
	h, i, slept := efiHost(t, "centos/"+shim(t), map[string]hostexectest.Answer{"lsblk": hostexectest.Prints("  /dev/sda\n")})
	i.SetBootOrder(t.Context(), request("master", 3))
	require.Contains(t, h.Lines(), efiCreated+`redhat\`+shim(t), "the usual folder")
	require.Equal(t, 20*time.Second, *slept)

	h, i, slept = efiHost(t, "centos/"+shim(t), map[string]hostexectest.Answer{"mount": hostexectest.Fails(32, "no such device")})
	i.SetBootOrder(t.Context(), request("master", 3))
	require.Contains(t, h.Lines(), efiCreated+`redhat\`+shim(t), "the usual folder")
	require.Equal(t, 20*time.Second, *slept)
	require.Zero(t, h.Count("umount /run/slipway/efi"))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h, i, _ = efiHost(t, "centos/"+shim(t), map[string]hostexectest.Answer{"lsblk": hostexectest.Prints("")})
	i.SetBootOrder(ctx, request("master", 3))
	require.Equal(t, 1, h.Count("lsblk --noheadings --raw --output PARTTYPE,PARTUUID,PATH /dev/sda"), "the reboot comes")
}

func TestBootOrderFindsTheFolderOfAnyVendor(t *testing.T) {
	t.Parallel()
	removable := map[string]string{"shimx64.efi": "BOOTX64.EFI", "shimaa64.efi": "BOOTAA64.EFI"}[shim(t)]
	for file, want := range map[string]string{
		"redhat/" + shim(t): `redhat\` + shim(t), "centos/" + shim(t): `centos\` + shim(t), "scos/" + shim(t): `scos\` + shim(t),
		"rocky/" + shim(t): `rocky\` + shim(t), "BOOT/" + removable: `BOOT\` + removable, "rocky/grubx64.efi": `redhat\` + shim(t),
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			h, i, _ := efiHost(t, file, nil)
			i.SetBootOrder(t.Context(), request("master", 3))
			require.Contains(t, h.Lines(), efiCreated+want)
		})
	}
}
