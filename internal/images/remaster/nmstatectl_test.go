package remaster_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/cavaliergopher/cpio"
	"github.com/stretchr/testify/require"

	"slipway/internal/images/remaster"
	"slipway/internal/images/remaster/rootfs"
	"slipway/internal/model"
	"slipway/internal/testing/isotest"
)

// rootfsWith makes a rootfs.img with a program in an OSTree deployment.
func rootfsWith(t *testing.T, program []byte) string {
	t.Helper()
	if _, err := exec.LookPath("mksquashfs"); err != nil {
		t.Skip("skipped: mksquashfs is not installed (Debian package squashfs-tools)")
	}
	folder := t.TempDir()
	bin := filepath.Join(folder, "root/ostree/deploy/rhcos/deploy/0123abcd.0/usr/bin")
	require.NoError(t, os.MkdirAll(bin, 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "nmstatectl"), program, 0o600))
	squashfs, img := filepath.Join(folder, "root.squashfs"), filepath.Join(folder, "rootfs.img")
	//nolint:gosec // a test's own arguments
	out, err := exec.Command("mksquashfs", filepath.Join(folder, "root"), squashfs, "-comp", "zstd", "-quiet", "-no-progress").
		CombinedOutput()
	require.NoError(t, err, string(out))
	content, err := os.ReadFile(squashfs)
	require.NoError(t, err)
	var packed bytes.Buffer
	w := cpio.NewWriter(&packed)
	require.NoError(t, w.WriteHeader(&cpio.Header{Name: "root.squashfs", Mode: cpio.TypeReg | 0o644, Links: 1, Size: int64(len(content))}))
	_, err = w.Write(content)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(img, packed.Bytes(), 0o600))
	return img
}

func TestNmstatectlIsTakenOutOfTheRootFileSystem(t *testing.T) {
	t.Parallel()
	program := bytes.Repeat([]byte("\x7fELF program"), 50_000)
	b := build(t, isotest.Options{RootfsFile: rootfsWith(t, program)})
	packed, err := remaster.Nmstatectl(b.file, b.Base)
	require.NoError(t, err)
	require.Equal(
		t,
		[]map[string]string{{"usr": "040755 ", "usr/bin": "040755 ", "usr/bin/nmstatectl": "0100755 " + string(program)}},
		archives(t, packed),
	)
	again, err := remaster.Nmstatectl(b.file, b.Base)
	require.NoError(t, err)
	require.Equal(t, packed, again, "the same image gives the same bytes")
	require.Zero(t, len(packed)%4)

	made := b.with(t, minimal(t, b, packed), remaster.Parts{})
	require.Equal(t, string(packed), made.file("images/nmstate.img"))
}

func TestAnImageWithoutNmstatectlIsAnError(t *testing.T) {
	t.Parallel()
	b := build(t, isotest.Options{})
	_, err := remaster.Nmstatectl(b.file, b.Base)
	require.ErrorContains(t, err, "take nmstatectl out of image rhcos-9.6.0: read the root file system")
	made := b.with(t, minimal(t, b, nil), remaster.Parts{})
	without, err := remaster.Inspect(bytes.NewReader(made.content), int64(len(made.content)))
	require.NoError(t, err)
	_, err = remaster.Nmstatectl(bytes.NewReader(made.content), without)
	require.ErrorIs(t, err, model.ErrNotFound)
	require.NotErrorIs(t, err, rootfs.ErrNoFile)
}
