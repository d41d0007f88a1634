package iso9660_test

import (
	"bytes"
	"encoding/binary"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/remaster/iso9660"
)

// changes remove, replace and add files, the names of which take a continuation.
func changes() []iso9660.Change {
	return []iso9660.Change{
		{Path: "images/pxeboot/rootfs.img", Remove: true},
		{Path: "isolinux/isolinux.cfg", Content: []byte("serial 0 115200\nsay remastered\n")},
		{Path: "images/assisted_installer_custom.img", Content: bytes.Repeat([]byte("c"), 5000)},
		{Path: "images/" + strings.Repeat("n", 255), Content: []byte("long")},
		{Path: "/coreos/empty"},
	}
}

// changed applies the changes to a copy of a tree.
func changed(tree files) files {
	tree = maps.Clone(tree)
	for _, c := range changes() {
		tree[strings.TrimPrefix(c.Path, "/")] = string(c.Content)
		if c.Remove {
			delete(tree, c.Path)
		}
	}
	return tree
}

// boots lists the shapes of images; hidden means that no file shows the boot images.
func boots(t *testing.T) map[string][]string {
	t.Helper()
	efi := save(t, bytes.Repeat([]byte("EFI partition..."), 4<<10))
	hide := append(hybrid(), "-hide", "isolinux.bin", "-hide", "efiboot.img", "-hide", "boot.cat")
	return map[string][]string{
		"hybrid":                     hybrid(),
		"hybrid, boot images hidden": hide,
		"CD for EFI":                 {"-r", "-J", "-e", "images/efiboot.img", "-no-emul-boot"},
		"CD for BIOS":                {"-R", "-b", "isolinux/isolinux.bin", "-no-emul-boot", "-boot-load-size", "4", "-boot-info-table"},
		"PowerPC":                    {"-r", "-chrp-boot-part"},
		"no boot, checksums":         {"-r", "--md5"},
		"hybrid with Apple's map":    append(hybrid(), "-isohybrid-apm-hfsplus"),
		"appended partition, mountable by its partition": appended(efi),
		"appended partition in the MBR": {
			"-r", "-isohybrid-mbr", isolinuxMBR, "-append_partition", "2", "0xef", efi, "-b", "isolinux/isolinux.bin", "-no-emul-boot",
			"-boot-load-size", "4",
			"-boot-info-table", "-eltorito-alt-boot", "-e", "--interval:appended_partition_2:all::", "-no-emul-boot",
		},
	}
}

// appended returns the options of an image with the EFI partition behind the volume.
func appended(efi string) []string {
	return []string{
		"-r", "--grub2-mbr", grubMBR, "-partition_offset", "16", "-appended_part_as_gpt", "-append_partition", "2",
		"C12A7328-F81F-11D2-BA4B-00A0C93EC93B", efi,
		"-iso_mbr_part_type", "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7", "-b", "isolinux/isolinux.bin", "-no-emul-boot", "-boot-load-size",
		"4", "-boot-info-table",
		"--grub2-boot-info", "-eltorito-alt-boot", "-e", "--interval:appended_partition_2:all::", "-no-emul-boot",
	}
}

const grubMBR = "/usr/lib/grub/i386-pc/boot_hybrid.img"

func TestRemaster(t *testing.T) {
	t.Parallel()
	for name, options := range boots(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			need(t, grubMBR)
			tree := coreOS(t, strings.Repeat("efi boot", 8<<10))
			tree["deep/er/and/er/and/er/and/er/and/end"] = "-> ../../end"
			base := build(t, tree, options...)
			shown := contents(t, base)
			require.Equal(t, !strings.Contains(name, "hidden"), slices.Contains(slices.Collect(maps.Keys(shown)), "isolinux/isolinux.bin"))
			iso, m := remaster(t, base, changes()...)

			require.Equal(t, withoutApple.ReplaceAllString(reports(t, base), ""), reports(t, iso))
			checkGPT(t, iso, checkGPT(t, base, nil))
			got := contents(t, iso)
			require.Equal(t, got, extracted(t, iso), "xorriso reads the same")
			if slices.Contains(options, "isolinux/isolinux.bin") {
				checkLoader(t, tree["isolinux/isolinux.bin"], base, iso)
			}
			want := changed(shown)
			sameLoaders(t, want, got)
			require.Equal(t, want, got)

			for path, content := range got {
				if !strings.HasPrefix(content, "-> ") {
					at, ok := m.File(path)
					require.True(t, ok, path)
					require.Equal(t, content, string(iso[at.Offset:at.Offset+at.Length]))
				}
			}
			_, ok := m.File("images/pxeboot/rootfs.img")
			require.False(t, ok)
			_, ok = m.File("images")
			require.False(t, ok)
			require.Less(t, len(iso), len(base), "what was removed is gone")

			same, _ := remaster(t, base, changes()...)
			require.True(t, bytes.Equal(iso, same), "the same changes make the same bytes")
			same, _ = remaster(t, iso)
			require.True(t, bytes.Equal(iso, same), "a new image of the new one is no other")
		})
	}
}

// loaderAt returns where the first entry of the catalogue has its boot image.
func loaderAt(t *testing.T, iso []byte) int {
	t.Helper()
	return 2048 * int(binary.LittleEndian.Uint32(catalogue(t, iso)[8:]))
}

// checkLoader checks that the catalogue and the boot code of the MBR, if it is there,
// know the place of the loader, and that it is not the old one.
func checkLoader(t *testing.T, loader string, base, iso []byte) {
	t.Helper()
	was, at := loaderAt(t, base), loaderAt(t, iso)
	require.NotEqual(t, was, at)
	require.Equal(t, loader[64:2548], string(iso[at+64:at+2548]))
	if old := int(binary.LittleEndian.Uint64(base[432:])); old != 0 {
		require.Equal(t, old-was/512, int(binary.LittleEndian.Uint64(iso[432:]))-at/512)
	}
}

// sameLoaders compares what holds places of its own: a boot loader's table and the boot
// catalogue. They are taken out of both.
func sameLoaders(t *testing.T, want, got files) {
	t.Helper()
	if loader, ok := want["isolinux/isolinux.bin"]; ok {
		require.Equal(t, loader[64:2548], got["isolinux/isolinux.bin"][64:2548])
		require.Equal(t, loader[2556:], got["isolinux/isolinux.bin"][2556:])
		require.Len(t, got["isolinux/isolinux.bin"], len(loader))
	}
	for path := range want {
		if path == "isolinux/isolinux.bin" || strings.Contains(path, "boot.cat") {
			require.Contains(t, got, path)
			delete(want, path)
			delete(got, path)
		}
	}
}

// unsure is xorriso's warning about hidden loaders, in old images and new.
const unsure = "WARNING : Found hidden El-Torito image. Its size could not be figured out"

// places matches the lines that differ between an image and a new one.
var places = regexp.MustCompile(
	`(?m)^((El Torito (catalog|boot img|img blks) .*?|ISO image size/512 : |GPT (lba range|start and size) .*:\s+(\d  )?|MBR partition   .*0x.. )\s*[\d ]+|(Boot record|Media|System area options|MBR \w+ per).*)$`,
)

// withoutApple matches the lines that are dropped.
var withoutApple = regexp.MustCompile(`(?m) APM$|^APM .*\n`)

// reports returns what xorriso reports of an image's ways to boot, without the places.
func reports(t *testing.T, iso []byte) string {
	t.Helper()
	out := run(t, "xorriso", "-indev", save(t, iso), "-report_el_torito", "plain", "-report_system_area", "plain")
	require.NotContains(t, strings.ReplaceAll(out, unsure, ""), "WARNING")
	_, out, _ = strings.Cut(out, "Volume id")
	return places.ReplaceAllString(out, "$2")
}
