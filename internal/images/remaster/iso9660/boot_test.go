package iso9660_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/remaster/iso9660"
	"slipway/internal/testing/await"
)

const ovmf = "/usr/share/OVMF/OVMF_CODE_4M.fd"

// espWith makes an EFI partition with a GRUB that looks for its menu in the image by label.
func espWith(t *testing.T) string {
	t.Helper()
	need(t, "grub-mkimage", "mkfs.vfat", "mmd", "mcopy", "/usr/lib/grub/x86_64-efi/moddep.lst")
	dir := t.TempDir()
	esp, loader := filepath.Join(dir, "esp"), grub(t, "x86_64-efi", "EFI/redhat/grub.cfg", "fat")
	require.NoError(t, os.WriteFile(esp, make([]byte, 2<<20), 0o600))
	run(t, "mkfs.vfat", esp)
	run(t, "mmd", "-i", esp, "::EFI", "::EFI/BOOT")
	run(t, "mcopy", "-i", esp, loader, "::EFI/BOOT/BOOTX64.EFI")
	return esp
}

// grub makes a loader that takes its menu from the image.
func grub(t *testing.T, format, menu string, modules ...string) string {
	t.Helper()
	dir := t.TempDir()
	early, loader := filepath.Join(dir, "early.cfg"), filepath.Join(dir, "loader")
	require.NoError(
		t,
		os.WriteFile(early, []byte("search --no-floppy --set=root --label rhcos-9.6.0\nconfigfile ($root)/"+menu+"\n"), 0o600),
	)
	args := []string{
		"-O",
		format,
		"-o",
		loader,
		"-p",
		"/",
		"-c",
		early,
		"iso9660",
		"part_gpt",
		"part_msdos",
		"normal",
		"search",
		"search_label",
		"configfile",
		"echo",
		"sleep",
	}
	run(t, "grub-mkimage", append(args, modules...)...)
	return loader
}

// asMade makes an image with isolinux for a BIOS and GRUB for UEFI, as CoreOS 9 is.
func asMade(t *testing.T) []byte {
	t.Helper()
	return build(t, coreOS(t, file(t, espWith(t))), hybrid()...)
}

// asGRUB has GRUB for both and the EFI partition behind the volume, as images of later
// systems are. Its first partition can be mounted, and GRUB finds that one.
func asGRUB(t *testing.T) []byte {
	t.Helper()
	need(t, grubMBR, "/usr/lib/grub/i386-pc/moddep.lst")
	tree := coreOS(t, "")
	tree["isolinux/isolinux.bin"] = file(t, grub(t, "i386-pc-eltorito", "boot/grub.cfg", "biosdisk", "serial", "terminal"))
	tree["boot/grub.cfg"] = ""
	return build(t, tree, appended(espWith(t))...)
}

// TestBoots starts machines from remastered images in every way there is. The line they
// print is in files that were replaced, and the image lies elsewhere than the old one.
func TestBoots(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("skipped: boots eight machines, each for some seconds")
	}
	need(t, "xorriso", "qemu-system-x86_64")
	menu := iso9660.Change{Path: "EFI/redhat/grub.cfg", Content: []byte("echo remastered_for_UEFI\nsleep 60\n")}
	changes := []iso9660.Change{menu, {Path: "images/pxeboot/rootfs.img", Remove: true}}
	for i := range 20 { // the folder grows, and what is behind it moves
		changes = append(changes, iso9660.Change{Path: fmt.Sprintf("coreos/%0200d", i)})
	}
	t.Run("isolinux and GRUB", func(t *testing.T) {
		// What isolinux says by itself goes to the screen only, but errors are seen.
		config := "serial 0 115200\ndefault linux\nlabel linux\n  kernel remastered_for_BIOS.c32\n"
		base := asMade(t)
		iso, _ := remaster(t, base, append(changes, iso9660.Change{Path: "isolinux/isolinux.cfg", Content: []byte(config)})...)
		require.NotEqual(t, loaderAt(t, base), loaderAt(t, iso))
		boot(t, save(t, iso))
	})
	t.Run("GRUB", func(t *testing.T) {
		config := "serial --unit=0 --speed=115200\nterminal_output serial\necho remastered_for_BIOS\nsleep 60\n"
		base := asGRUB(t)
		iso, _ := remaster(t, base, append(changes, iso9660.Change{Path: "boot/grub.cfg", Content: []byte(config)})...)
		require.NotEqual(t, loaderAt(t, base), loaderAt(t, iso))
		boot(t, save(t, iso))
	})
}

// boot starts an image by every firmware and from every medium, one after the other:
// each takes a processor.
func boot(t *testing.T, path string) {
	t.Helper()
	disk := []string{"-drive", "file=" + path + ",format=raw,if=ide,snapshot=on"}
	cd := []string{"-cdrom", path}
	t.Run("a BIOS boots the CD", func(t *testing.T) { waitFor(t, "remastered_for_BIOS", cd...) })
	t.Run("a BIOS boots the disk", func(t *testing.T) { waitFor(t, "remastered_for_BIOS", disk...) })
	uefi := []string{"-drive", "if=pflash,format=raw,readonly=on,file=" + ovmf}
	t.Run("UEFI boots the CD", func(t *testing.T) {
		need(t, ovmf)
		waitFor(t, "remastered_for_UEFI", append(cd, uefi...)...)
	})
	t.Run("UEFI boots the disk", func(t *testing.T) {
		need(t, ovmf)
		waitFor(t, "remastered_for_UEFI", append(disk, uefi...)...)
	})
}

// waitFor runs a machine until it prints a text on its serial port.
func waitFor(t *testing.T, want string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(await.Context(t))
	args = append(
		[]string{"-accel", "tcg", "-m", "256", "-display", "none", "-nic", "none", "-no-reboot", "-monitor", "none", "-serial", "stdio"},
		args...)
	machine := exec.CommandContext(ctx, "qemu-system-x86_64", args...) //nolint:gosec // a test's own arguments
	serial, err := machine.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, machine.Start())
	defer func() {
		cancel()
		_ = machine.Wait() // ends by the signal above
	}()
	var seen strings.Builder
	in := bufio.NewReader(io.TeeReader(serial, &seen))
	for {
		// Boot loaders end lines as they like; UEFI puts codes for colours between.
		if _, err := in.ReadByte(); err != nil {
			require.NoError(t, err, "the machine printed %q", seen.String())
		}
		if in.Buffered() == 0 && strings.Contains(seen.String(), want) {
			return
		}
	}
}
