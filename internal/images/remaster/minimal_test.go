package remaster_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/remaster"
	"slipway/internal/images/remaster/iso9660"
	"slipway/internal/model"
	"slipway/internal/testing/isotest"
)

var update = flag.Bool("update", false, "write the golden files")

const rootfsURL = "http://images.example:8080/boot-artifacts/rootfs?arch=x86_64&version=4.19"

func minimal(t testing.TB, b base, nmstatectl []byte) *remaster.Minimal {
	t.Helper()
	m, err := b.Minimal(b.file, remaster.MinimalOptions{RootfsURL: rootfsURL, Nmstatectl: nmstatectl})
	require.NoError(t, err)
	return m
}

// with makes a minimal image in memory.
func (b base) with(t testing.TB, m *remaster.Minimal, p remaster.Parts) disk {
	t.Helper()
	l, err := m.With(p)
	require.NoError(t, err)
	require.Equal(t, m.Size(), l.Size())
	return read(t, b.bytes(t, l))
}

func golden(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), content)
}

func TestAMinimalImageFetchesItsRootFileSystem(t *testing.T) {
	t.Parallel()
	for _, architecture := range []string{"x86_64", "aarch64", "ppc64le"} {
		t.Run(architecture, func(t *testing.T) {
			t.Parallel()
			b := build(t, isotest.Options{Architecture: architecture, RootfsSize: 4 << 20})
			nmstatectl := packedAs(t, "usr/bin/nmstatectl", "2")
			m := minimal(t, b, nmstatectl)
			require.Less(t, m.Size(), b.Size()-2<<20)
			made := b.with(t, m, remaster.Parts{Ignition: []byte(config), KernelArguments: arguments, Ramdisk: packedAs(t, "network", "1")})

			_, ok := made.volume.File("images/pxeboot/rootfs.img")
			require.False(t, ok)
			require.Equal(
				t,
				[]map[string]string{{"config.ign": "0100644 " + config}},
				archives(t, []byte(made.file("images/ignition.img"))),
			)
			require.Equal(
				t,
				[]map[string]string{{"network": "0100600 1"}},
				archives(t, []byte(made.file("images/assisted_installer_custom.img"))),
			)
			require.EqualValues(t, 1<<20, made.place("images/assisted_installer_custom.img").Length)
			require.Equal(t, string(nmstatectl), made.file("images/nmstate.img"))
			text, areas := made.areas()
			require.Equal(t, "ignition.firstboot ignition.platform.id=metal", text)
			for _, a := range areas {
				require.Equal(t, text+" rd.break=initqueue quiet", made.kargs(a))
			}
			for _, same := range []string{
				"images/pxeboot/vmlinuz", "images/pxeboot/initrd.img", "images/efiboot.img", "coreos/igninfo.json", "coreos/features.json",
			} {
				require.Equal(t, read(t, b.own(t)).file(same), made.file(same), same)
			}
		})
	}
}

func TestFilesOfBootLoadersStartAMinimalImage(t *testing.T) {
	t.Parallel()
	b := build(t, isotest.Options{KargsRoom: 120})
	made := b.with(t, minimal(t, b, []byte("2")), remaster.Parts{})
	for _, path := range []string{"isolinux/isolinux.cfg", "EFI/redhat/grub.cfg", "coreos/kargs.json"} {
		golden(t, filepath.Base(path), made.file(path))
	}
	made = b.with(t, minimal(t, b, nil), remaster.Parts{})
	require.NotContains(t, made.file("EFI/redhat/grub.cfg"), "nmstate")
	_, ok := made.volume.File("images/nmstate.img")
	require.False(t, ok)
}

// An image without lists of its areas has their markers.
func TestAnOldImageIsEditedByItsMarkers(t *testing.T) {
	t.Parallel()
	b := build(t, isotest.Options{KargsRoom: 120, WithoutInfo: true})
	parts := remaster.Parts{Ignition: []byte(config), KernelArguments: arguments}
	made := b.with(t, minimal(t, b, nil), parts)
	golden(t, "old/isolinux.cfg", made.file("isolinux/isolinux.cfg"))
	golden(t, "old/grub.cfg", made.file("EFI/redhat/grub.cfg"))
	require.Len(t, archives(t, []byte(made.file("images/ignition.img"))), 1)

	l, err := b.Full(parts)
	require.NoError(t, err)
	full := read(t, b.bytes(t, l))
	for _, path := range []string{"isolinux/isolinux.cfg", "EFI/redhat/grub.cfg"} {
		before := read(t, b.own(t)).file(path)
		require.Len(t, full.file(path), len(before))
		require.Contains(
			t,
			full.file(path),
			"coreos.liveiso=rhcos-9.6.0 ignition.firstboot ignition.platform.id=metal rd.break=initqueue quiet\n##",
		)
	}
	_, err = b.Full(remaster.Parts{KernelArguments: []model.KernelArgument{{Operation: "delete", Value: "ignition.firstboot"}}})
	require.ErrorIs(t, err, model.ErrConflict)
	require.ErrorContains(t, err, "require only arguments to append")
	_, err = b.Full(remaster.Parts{KernelArguments: []model.KernelArgument{{Operation: "append", Value: strings.Repeat("x", 200)}}})
	require.ErrorContains(t, err, "kernel arguments do not fit")
}

// What Slipway made is read as others read it.
func TestAMinimalImageCanBeUnpacked(t *testing.T) {
	t.Parallel()
	b := build(t, isotest.Options{RootfsSize: 1 << 20})
	made := b.with(t, minimal(t, b, nil), remaster.Parts{Ignition: []byte(config), Ramdisk: []byte("network")})
	folder := t.TempDir()
	iso := filepath.Join(folder, "minimal.iso")
	require.NoError(t, os.WriteFile(iso, made.content, 0o600))
	//nolint:gosec // a test's own arguments
	out, err := exec.Command("xorriso", "-osirrox", "on", "-indev", iso, "-extract", "/", filepath.Join(folder, "out")).CombinedOutput()
	require.NoError(t, err, string(out))
	require.NotContains(t, string(out), "SORRY")
	_, err = os.Stat(filepath.Join(folder, "out", "images/pxeboot/rootfs.img"))
	require.ErrorIs(t, err, os.ErrNotExist)
	for _, path := range []string{
		"images/ignition.img", "images/assisted_installer_custom.img", "EFI/redhat/grub.cfg", "isolinux/isolinux.cfg", "coreos/kargs.json",
		"images/pxeboot/initrd.img",
	} {
		content, err := os.ReadFile(filepath.Join(folder, "out", path))
		require.NoError(t, err)
		require.True(t, made.file(path) == string(content), path)
	}
}

// Some bases have room for the ramdisk themselves, as the bench's.
func TestARamdiskIsNotAddedTwice(t *testing.T) {
	t.Parallel()
	b := build(t, isotest.Options{WithoutInfo: true})
	own := read(t, b.own(t))
	grub, isolinux := "EFI/redhat/grub.cfg", "isolinux/isolinux.cfg"
	changed, err := own.volume.Remaster(
		b.file,
		iso9660.Change{Path: "images/assisted_installer_custom.img", Content: []byte("old")},
		iso9660.Change{
			Path:    grub,
			Content: []byte(strings.ReplaceAll(own.file(grub), "ignition.img", "ignition.img /images/assisted_installer_custom.img")),
		},
		iso9660.Change{
			Path:    isolinux,
			Content: []byte(strings.ReplaceAll(own.file(isolinux), "ignition.img", "ignition.img,/images/assisted_installer_custom.img")),
		},
	)
	require.NoError(t, err)
	content := b.bytes(t, changed.Layout)
	again, err := remaster.Inspect(bytes.NewReader(content), int64(len(content)))
	require.NoError(t, err)
	second := base{again, bytes.NewReader(content)}
	made := second.with(t, minimal(t, second, []byte("2")), remaster.Parts{})
	require.Contains(t, made.file(grub), "/images/ignition.img /images/assisted_installer_custom.img /images/nmstate.img\n")
	require.Contains(t, made.file(isolinux), "/images/ignition.img,/images/assisted_installer_custom.img,/images/nmstate.img ")
	require.Equal(t, 1, strings.Count(made.file(grub), "custom"))
	require.Equal(t, 1, strings.Count(made.file(isolinux), "custom"))
	require.Len(t, made.file("images/assisted_installer_custom.img"), 1<<20)
}

func TestThereIsNoMinimalImageOfAMinimalImage(t *testing.T) {
	t.Parallel()
	b := build(t, isotest.Options{})
	made := b.with(t, minimal(t, b, nil), remaster.Parts{})
	again, err := remaster.Inspect(bytes.NewReader(made.content), int64(len(made.content)))
	require.NoError(t, err)
	_, err = again.Minimal(bytes.NewReader(made.content), remaster.MinimalOptions{RootfsURL: rootfsURL})
	require.ErrorIs(t, err, model.ErrInvalid)
	require.ErrorContains(t, err, "images/pxeboot/rootfs.img is missing")
}

func TestAMinimalImageThatCannotBootIsRefused(t *testing.T) {
	t.Parallel()
	b := build(t, isotest.Options{})
	for _, url := range []string{"", "ftp://x/rootfs", "http://x/root fs", `http://x/"`, "http://x/$a", "http://x/\n", "images/rootfs"} {
		_, err := b.Minimal(b.file, remaster.MinimalOptions{RootfsURL: url})
		require.ErrorIs(t, err, model.ErrInvalid, url)
	}
	_, err := minimal(t, b, nil).With(remaster.Parts{Ramdisk: make([]byte, 1<<20+1)})
	require.ErrorIs(t, err, model.ErrConflict)
	require.ErrorContains(t, err, "require at most 1048576 bytes packed, found 1048577")
}

func TestImagesOfOneBaseDoNotChangeEachOther(t *testing.T) {
	t.Parallel()
	b := build(t, isotest.Options{})
	m := minimal(t, b, nil)
	before := b.with(t, m, remaster.Parts{Ignition: []byte(config)})
	b.with(t, m, remaster.Parts{Ignition: []byte("{}"), KernelArguments: arguments, Ramdisk: []byte("other")})
	after := b.with(t, m, remaster.Parts{Ignition: []byte(config)})
	require.True(t, bytes.Equal(before.content, after.content))
}
