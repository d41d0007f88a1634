// Package isotest makes ISOs for tests that are shaped like CoreOS's ISOs: the same folders, areas and boot
// records, around contents of a few bytes (docs/reference/images.md, "Layout of a live ISO").
package isotest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Options shape an ISO; the zero value is a small one for x86_64.
type Options struct {
	Label        string // volume id; empty: rhcos-9.6.0
	Architecture string // x86_64, aarch64, ppc64le, s390x; empty: x86_64
	IgnitionRoom int    // bytes of the area for the Ignition config; 0: 256 KiB
	KargsRoom    int    // bytes of the area for kernel arguments; 0: 1137
	// RootfsFile is the root file system; empty: RootfsSize bytes, at least 64 KiB. The
	// first and last 64 KiB of them are random, what is between is a hole.
	RootfsFile string
	RootfsSize int64
	// WithoutInfo leaves igninfo.json and kargs.json out, as old images do.
	WithoutInfo bool
}

// DefaultKargs returns the kernel arguments of an image before somebody changes them.
func DefaultKargs(o Options) string {
	return "coreos.liveiso=" + o.label() + " ignition.firstboot ignition.platform.id=metal"
}

// Marker is the end of the area for kernel arguments.
const Marker = " COREOS_KARG_EMBED_AREA"

func (o Options) label() string {
	if o.Label == "" {
		return "rhcos-9.6.0"
	}
	return o.Label
}

func (o Options) isX86() bool { return o.Architecture == "" || o.Architecture == "x86_64" }

// Build makes an ISO in a folder of the test. It skips the test where xorriso is missing.
func Build(t testing.TB, o Options) string {
	t.Helper()
	if _, err := exec.LookPath("xorriso"); err != nil {
		t.Skip("skipped: xorriso is not installed (Debian package xorriso)")
	}
	tree := filepath.Join(t.TempDir(), "tree")
	b := builder{t, tree, o}
	if o.Architecture == "s390x" {
		b.s390x()
	} else {
		b.pc()
	}
	iso := filepath.Join(t.TempDir(), "base.iso")
	args := append(
		[]string{"-as", "mkisofs", "-quiet", "-iso-level", "3", "-V", o.label(), "-r", "-J", "-joliet-long", "-o", iso},
		b.boot()...)
	//nolint:gosec // a test's own arguments
	out, err := exec.CommandContext(t.Context(), "xorriso", append(args, tree)...).CombinedOutput()
	require.NoError(t, err, string(out))
	return iso
}

type builder struct {
	t    testing.TB
	tree string
	o    Options
}

func (b builder) write(path string, content []byte) {
	b.t.Helper()
	path = filepath.Join(b.tree, path)
	require.NoError(b.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(b.t, os.WriteFile(path, content, 0o644)) //nolint:gosec // read by xorriso
}

// noise makes the same content for the same seed.
func noise(seed uint64, size int) []byte {
	out := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(out) // never fails
	return out
}

func (b builder) rootfs() {
	b.t.Helper()
	path := filepath.Join(b.tree, "images/pxeboot/rootfs.img")
	require.NoError(b.t, os.MkdirAll(filepath.Dir(path), 0o755))
	if b.o.RootfsFile != "" {
		require.NoError(b.t, os.Symlink(b.o.RootfsFile, path+".link"))
		content, err := os.ReadFile(b.o.RootfsFile)
		require.NoError(b.t, err)
		require.NoError(b.t, os.Remove(path+".link"))
		b.write("images/pxeboot/rootfs.img", content)
		return
	}
	edge := noise(1, 64<<10)
	size := max(b.o.RootfsSize, int64(len(edge)))
	f, err := os.Create(path) //nolint:gosec // in the folder of the test
	require.NoError(b.t, err)
	defer f.Close()
	_, err = f.Write(edge)
	require.NoError(b.t, err)
	_, err = f.WriteAt(edge, size-int64(len(edge)))
	require.NoError(b.t, err)
}

// pc makes an image for machines with a BIOS or UEFI.
func (b builder) pc() {
	b.t.Helper()
	b.write("images/pxeboot/vmlinuz", noise(2, 5000))
	b.write("images/pxeboot/initrd.img", noise(3, 7001))
	b.rootfs()
	b.write("images/ignition.img", make([]byte, or(b.o.IgnitionRoom, 256<<10)))
	b.write("images/efiboot.img", noise(4, 40<<10))
	b.write("coreos/features.json", []byte(`{"installer-config":true,"live-initrd-network":true}`))
	kargs := &kargs{room: or(b.o.KargsRoom, 1137), text: DefaultKargs(b.o)}
	if b.o.isX86() {
		b.write("isolinux/isolinux.bin", isolinux())
		b.write("isolinux/isolinux.cfg", kargs.embed(
			"isolinux/isolinux.cfg",
			"serial 0\ndefault vesamenu.c32\ntimeout 50\nlabel linux\n  menu label ^RHEL CoreOS (Live)\n  menu default\n  kernel "+
				"/images/pxeboot/vmlinuz\n  append initrd=/images/pxeboot/initrd.img,/images/ignition.img ",
			"\n",
		))
	}
	b.write("EFI/redhat/grub.cfg", kargs.embed(
		"EFI/redhat/grub.cfg",
		"set default=\"1\"\nset timeout=5\nmenuentry 'RHEL CoreOS (Live)' --class fedora --class gnu-linux --class gnu --class os "+
			"{\n\tlinux /images/pxeboot/vmlinuz ",
		"\n\tinitrd /images/pxeboot/initrd.img /images/ignition.img\n}\n",
	))
	if !b.o.WithoutInfo {
		b.write("coreos/igninfo.json", []byte(`{"file": "images/ignition.img"}`))
		b.write("coreos/kargs.json", kargs.json(b.t))
	}
}

// s390x boots an image of its own, in which the areas are.
func (b builder) s390x() {
	b.t.Helper()
	b.write("images/kernel.img", noise(2, 5000))
	b.write("images/pxeboot/initrd.img", noise(3, 7001))
	b.write("images/initrd.addrsize", []byte{0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x1b, 0x59})
	b.write(
		"generic.ins",
		[]byte(
			"images/kernel.img 0x00000000\nimages/initrd.img 0x02000000\nimages/genericdvd.prm 0x00010480\nimages/initrd.addrsize "+
				"0x00010408\n",
		),
	)
	b.rootfs()
	room := or(b.o.IgnitionRoom, 256<<10)
	cdboot := noise(5, 100<<10)
	cdboot = append(append(cdboot, make([]byte, room)...), noise(6, 3000)...)
	b.write("images/cdboot.img", cdboot)
	b.write("coreos/igninfo.json", fmt.Appendf(nil, `{"file": "images/cdboot.img", "offset": %d, "length": %d}`, 100<<10, room))
}

func or(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

// isolinux returns a boot file with room for a boot information table; the real one where it is installed,
// because only that makes a hybrid image.
func isolinux() []byte {
	if content, err := os.ReadFile("/usr/lib/ISOLINUX/isolinux.bin"); err == nil {
		return content
	}
	return noise(7, 8<<10)
}

func (b builder) boot() []string {
	switch {
	case b.o.Architecture == "s390x":
		return []string{"-c", "boot.cat", "-b", "images/cdboot.img", "-no-emul-boot", "-boot-load-size", "4"}
	case !b.o.isX86():
		return []string{"-c", "boot.cat", "-e", "images/efiboot.img", "-no-emul-boot"}
	}
	args := []string{
		"-c",
		"isolinux/boot.cat",
		"-b",
		"isolinux/isolinux.bin",
		"-no-emul-boot",
		"-boot-load-size",
		"4",
		"-boot-info-table",
		"-eltorito-alt-boot",
		"-e",
		"images/efiboot.img",
		"-no-emul-boot",
	}
	if mbr := "/usr/lib/ISOLINUX/isohdpfx.bin"; exists(mbr) {
		args = append(args, "-isohybrid-mbr", mbr, "-isohybrid-gpt-basdat")
	}
	return args
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// kargs is the area for kernel arguments of the boot loaders' files: the arguments, a
// newline, and signs of padding up to its size, the marker last.
type kargs struct {
	room  int
	text  string
	files []kargsFile
}

type kargsFile struct {
	Path   string `json:"path"`
	Offset int    `json:"offset"`
	Pad    string `json:"pad"`
	End    string `json:"end"`
}

func (k *kargs) embed(path, before, after string) []byte {
	k.files = append(k.files, kargsFile{path, len(before), "#", "\n"})
	padding := strings.Repeat("#", k.room-len(k.text)-1)
	return []byte(before + k.text + "\n" + padding + Marker + after)
}

func (k *kargs) json(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", "  ")
	require.NoError(t, encoder.Encode(map[string]any{"default": k.text, "files": k.files, "size": k.room}))
	return out.Bytes()
}
