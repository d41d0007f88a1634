package bench_test

import (
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/cavaliergopher/cpio"
	"github.com/stretchr/testify/require"
)

// liveRootfs makes a root file system as a live ISO has it: an archive with a compressed file system of 1
// GiB, in which nmstatectl is 20 MB among files of other sizes.
func liveRootfs(tb testing.TB) string {
	tb.Helper()
	if _, err := exec.LookPath("mksquashfs"); err != nil {
		tb.Skip("SKIP: this benchmark needs mksquashfs (apt-get install squashfs-tools)")
	}
	dir := tb.TempDir()
	deployed := filepath.Join(dir, "root/ostree/deploy/rhcos/deploy/0123abcd.0/usr/bin")
	require.NoError(tb, os.MkdirAll(deployed, 0o755))
	program := make([]byte, 20<<20)
	random := rand.NewChaCha8([32]byte{1})
	for at := 0; at < len(program); at += 64 { // half of it noise: it packs to half, as programs do
		_, _ = random.Read(program[at : at+32])
	}
	require.NoError(tb, os.WriteFile(filepath.Join(deployed, "nmstatectl"), program, 0o755))
	other, err := os.Create(filepath.Join(deployed, "zz-other"))
	require.NoError(tb, err)
	_, err = io.CopyN(other, random, 1<<30)
	require.NoError(tb, err)
	require.NoError(tb, other.Close())
	packed := filepath.Join(dir, "root.squashfs")
	out, err := exec.Command(
		"mksquashfs", filepath.Join(dir, "root"), packed, "-comp", "zstd", "-Xcompression-level", "1", "-quiet", "-no-progress",
	).
		CombinedOutput()
	require.NoError(tb, err, string(out))
	require.NoError(tb, os.RemoveAll(filepath.Join(dir, "root")))
	file, err := os.Open(packed)
	require.NoError(tb, err)
	defer file.Close()
	info, err := file.Stat()
	require.NoError(tb, err)
	rootfs, err := os.Create(filepath.Join(dir, "rootfs.img"))
	require.NoError(tb, err)
	defer rootfs.Close()
	archive := cpio.NewWriter(rootfs)
	require.NoError(tb, archive.WriteHeader(&cpio.Header{Name: "root.squashfs", Mode: cpio.TypeReg | 0o644, Links: 1, Size: info.Size()}))
	_, err = io.Copy(archive, file)
	require.NoError(tb, err)
	require.NoError(tb, archive.Close())
	require.NoError(tb, os.Remove(packed))
	return rootfs.Name()
}
