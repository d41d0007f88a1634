package iso9660_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/remaster/iso9660"
)

const (
	isolinuxBin = "/usr/lib/ISOLINUX/isolinux.bin"
	isolinuxMBR = "/usr/lib/ISOLINUX/isohdpfx.bin"
	isolinuxC32 = "/usr/lib/syslinux/modules/bios/ldlinux.c32"
)

// need skips a test where programs or files are missing.
func need(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err == nil {
			continue
		}
		if _, err := os.Stat(name); !strings.HasPrefix(name, "/") || err != nil {
			t.Skipf("skipped: %s is not installed", name)
		}
	}
}

// run runs a program and gives all it printed.
func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput() //nolint:gosec // a test's own arguments
	require.NoError(t, err, "%s %v: %s", name, args, out)
	return string(out)
}

// files are a tree on disk by path: content, or "-> target" for a symbolic link.
type files map[string]string

func (f files) write(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range f {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			require.NoError(t, os.Symlink(target, path))
			continue
		}
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644)) //nolint:gosec // read by xorriso
	}
	return dir
}

// build makes an image with xorriso, which speaks like mkisofs.
func build(t testing.TB, tree files, options ...string) []byte {
	t.Helper()
	need(t, "xorriso")
	iso := filepath.Join(t.TempDir(), "base.iso")
	args := append([]string{"-as", "mkisofs", "-quiet", "-V", "rhcos-9.6.0", "-iso-level", "3", "-o", iso}, options...)
	run(t, "xorriso", append(args, tree.write(t))...)
	content, err := os.ReadFile(iso) //nolint:gosec // the test's own file
	require.NoError(t, err)
	return content
}

func file(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(path) //nolint:gosec // a loader of the machine
	require.NoError(t, err)
	return string(content)
}

// coreOS makes a tree with what a CoreOS image boots from; efi is the EFI partition.
func coreOS(t testing.TB, efi string) files {
	t.Helper()
	need(t, isolinuxBin, isolinuxC32, isolinuxMBR)
	return files{
		"isolinux/isolinux.bin":     file(t, isolinuxBin),
		"isolinux/ldlinux.c32":      file(t, isolinuxC32),
		"isolinux/isolinux.cfg":     "serial 0 115200\nsay base\n",
		"images/efiboot.img":        efi,
		"images/pxeboot/rootfs.img": strings.Repeat("rootfs.", 300_000),
		"images/pxeboot/vmlinuz":    strings.Repeat("kernel!", 999),
		"coreos/igninfo.json":       `{"file":"images/ignition.img"}`,
		"images/ignition.img":       strings.Repeat("\x00", 256<<10),
		"EFI/redhat/grub.cfg":       "echo base\n",
	}
}

// hybrid returns the options of an image that starts as a CD and as a disk.
func hybrid() []string {
	return []string{
		"-r", "-J", "-joliet-long", "-isohybrid-mbr", isolinuxMBR, "-c", "isolinux/boot.cat", "-b", "isolinux/isolinux.bin",
		"-no-emul-boot", "-boot-load-size", "4",
		"-boot-info-table", "-eltorito-alt-boot", "-e", "images/efiboot.img", "-no-emul-boot", "-isohybrid-gpt-basdat",
	}
}

func read(t testing.TB, iso []byte) *iso9660.Volume {
	t.Helper()
	v, err := iso9660.Read(bytes.NewReader(iso), int64(len(iso)))
	require.NoError(t, err)
	return v
}

func remaster(t testing.TB, iso []byte, changes ...iso9660.Change) ([]byte, *iso9660.Remastered) {
	t.Helper()
	m, err := read(t, iso).Remaster(bytes.NewReader(iso), changes...)
	require.NoError(t, err)
	content, err := io.ReadAll(m.Layout.Reader(bytes.NewReader(iso)))
	require.NoError(t, err)
	return content, m
}

// contents reads all files of an image; folders are left out.
func contents(t testing.TB, iso []byte) files {
	t.Helper()
	all := files{}
	for _, f := range read(t, iso).Files() {
		switch {
		case f.Link != "":
			all[f.Path] = "-> " + f.Link
		case !f.Dir:
			var content []byte
			for _, e := range f.Extents {
				content = append(content, iso[e.Offset:e.Offset+e.Length]...)
			}
			all[f.Path] = string(content)
		}
	}
	return all
}

// extracted reads all files of an image as xorriso sees them.
func extracted(t testing.TB, iso []byte) files {
	t.Helper()
	dir, path := filepath.Join(t.TempDir(), "out"), save(t, iso)
	out := run(t, "xorriso", "-osirrox", "on", "-indev", path, "-extract", "/", dir)
	for _, bad := range []string{"WARNING", "SORRY", "FAILURE", "FATAL", "MISHAP"} {
		require.NotContains(t, strings.ReplaceAll(out, unsure, ""), bad)
	}
	all := files{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		require.NoError(t, err)
		name, err := filepath.Rel(dir, path)
		require.NoError(t, err)
		switch {
		case d.Type()&os.ModeSymlink != 0:
			target, err := os.Readlink(path)
			require.NoError(t, err)
			all[name] = "-> " + target
		case !d.IsDir():
			all[name] = file(t, path)
		default:
			require.NoError(t, os.Chmod(path, 0o755)) //nolint:gosec // so that the test can clean up
		}
		return nil
	}))
	return all
}

func save(t testing.TB, iso []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image.iso")
	require.NoError(t, os.WriteFile(path, iso, 0o600))
	return path
}
