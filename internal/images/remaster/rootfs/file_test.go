package rootfs_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/cavaliergopher/cpio"
	"github.com/erofs/go-erofs"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"slipway/internal/images/remaster/rootfs"
)

var patterns = []string{"usr/bin/tool", "ostree/deploy/*/deploy/*/usr/bin/tool"}

// program makes a file of several blocks and a tail, half of it compressible.
func program() []byte {
	out := make([]byte, 700_001)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(out[:len(out)/2])
	return out
}

// tree writes a root file system with many neighbours, under a folder.
func tree(t *testing.T, under string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	bin := filepath.Join(root, under, "usr/bin")
	require.NoError(t, os.MkdirAll(bin, 0o755))
	for i := range 600 {
		require.NoError(t, os.WriteFile(filepath.Join(bin, fmt.Sprintf("neighbour-%d", i)), bytes.Repeat([]byte("x"), i), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(bin, "tool"), program(), 0o755)) //nolint:gosec // a program
	return root
}

// archive makes a rootfs.img: other members may be around the file system.
func archive(t *testing.T, names ...string) *cpioFile {
	t.Helper()
	c := &cpioFile{}
	c.w = cpio.NewWriter(&c.Buffer)
	for _, name := range names {
		c.add(t, name, []byte("1"))
	}
	return c
}

type cpioFile struct {
	bytes.Buffer
	w *cpio.Writer
}

func (c *cpioFile) add(t *testing.T, name string, content []byte) {
	t.Helper()
	require.NoError(t, c.w.WriteHeader(&cpio.Header{Name: name, Mode: cpio.TypeReg | 0o644, Links: 1, Size: int64(len(content))}))
	_, err := c.w.Write(content)
	require.NoError(t, err)
}

func (c *cpioFile) end(t *testing.T) []byte {
	t.Helper()
	require.NoError(t, c.w.Close())
	return c.Bytes()
}

func squashfs(t *testing.T, root string, options ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath("mksquashfs"); err != nil {
		t.Skip("skipped: mksquashfs is not installed (Debian package squashfs-tools)")
	}
	image := filepath.Join(t.TempDir(), "root.squashfs")
	//nolint:gosec // a test's own arguments
	out, err := exec.Command("mksquashfs", append([]string{root, image, "-noappend", "-quiet", "-no-progress"}, options...)...).
		CombinedOutput()
	require.NoError(t, err, string(out))
	content, err := os.ReadFile(image)
	require.NoError(t, err)
	return content
}

func file(content []byte, limit int64) ([]byte, error) {
	return rootfs.File(bytes.NewReader(content), int64(len(content)), rootfs.Request{Patterns: patterns, Limit: limit})
}

func TestFilesAreReadFromSquashfs(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]string{
		"zstd": {"-comp", "zstd"}, "xz": {"-comp", "xz"}, "gzip": {"-comp", "gzip"},
		"blocks of a MiB":    {"-comp", "zstd", "-b", "1M"},
		"nothing compressed": {"-noI", "-noD", "-noF", "-noX"},
		"tails in fragments": {"-comp", "zstd", "-always-use-fragments"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := archive(t, "etc/coreos-live-rootfs")
			c.add(t, "root.squashfs", squashfs(t, tree(t, "."), options...))
			content, err := file(c.end(t), 1<<20)
			require.NoError(t, err)
			require.True(t, bytes.Equal(program(), content))
		})
	}
}

// Files of CoreOS have an SELinux label, some of them capabilities, or signatures.
func TestFilesWithThreeAttributesAreRead(t *testing.T) {
	t.Parallel()
	root := tree(t, ".")
	for _, f := range []string{"tool", "neighbour-3", "neighbour-5"} {
		for _, name := range []string{"user.label", "user.capability", "user.signature"} {
			if err := unix.Setxattr(filepath.Join(root, "usr/bin", f), name, []byte("system_u:object_r:bin_t:s0"), 0); err != nil {
				t.Skipf("skipped: files here have no extended attributes: %v", err)
			}
		}
	}
	c := archive(t)
	c.add(t, "root.squashfs", squashfs(t, root, "-comp", "zstd", "-xattrs"))
	content, err := file(c.end(t), 1<<20)
	require.NoError(t, err)
	require.True(t, bytes.Equal(program(), content))
}

func TestFilesAreFoundInADeployment(t *testing.T) {
	t.Parallel()
	c := archive(t)
	c.add(t, "root.squashfs", squashfs(t, tree(t, "ostree/deploy/rhcos/deploy/0123abcd.0"), "-comp", "zstd"))
	content, err := file(c.end(t), 1<<20)
	require.NoError(t, err)
	require.True(t, bytes.Equal(program(), content))
}

// packEROFS makes an image without compression.
func packEROFS(t *testing.T) []byte {
	t.Helper()
	image, err := os.Create(filepath.Join(t.TempDir(), "root.erofs"))
	require.NoError(t, err)
	w := erofs.Create(image)
	require.NoError(t, w.CopyFrom(os.DirFS(tree(t, "."))))
	require.NoError(t, w.Close())
	_, err = image.Seek(0, io.SeekStart)
	require.NoError(t, err)
	packed, err := io.ReadAll(image)
	require.NoError(t, err)
	return packed
}

func TestFilesAreReadFromEROFS(t *testing.T) {
	t.Parallel()
	c := archive(t)
	c.add(t, "root.erofs", packEROFS(t))
	content, err := file(c.end(t), 1<<20)
	require.NoError(t, err)
	require.True(t, bytes.Equal(program(), content))
}

func TestCompressedEROFSIsNamed(t *testing.T) {
	t.Parallel()
	image := packEROFS(t)
	image[1024+80] |= 0x02 // a list of compressions (kernel.org, filesystems/erofs, feature_incompat)
	image[1024+84] |= 0x02 // MicroLZMA
	c := archive(t)
	c.add(t, "root.erofs", image)
	_, err := file(c.end(t), 1<<20)
	require.ErrorIs(t, err, rootfs.ErrCompressed)
}

func TestWhatIsNoRootFileSystemIsRefused(t *testing.T) {
	t.Parallel()
	image := squashfs(t, tree(t, "."), "-comp", "zstd")
	whole := archive(t)
	whole.add(t, "root.squashfs", image)
	packed := whole.end(t)
	_, err := file(packed, 700_000)
	require.ErrorContains(t, err, "require a file of at most 700000 bytes, found 700001")

	without := archive(t, "etc/coreos-live-rootfs")
	_, err = file(without.end(t), 1<<20)
	require.ErrorContains(t, err, "the archive does not contain root.squashfs or root.erofs")

	noise := archive(t)
	noise.add(t, "root.squashfs", bytes.Repeat([]byte("noise"), 1000))
	_, err = file(noise.end(t), 1<<20)
	require.ErrorContains(t, err, "require a squashfs or EROFS image")

	_, err = rootfs.File(bytes.NewReader(packed), int64(len(packed)), rootfs.Request{Patterns: []string{"usr/bin/another"}, Limit: 1})
	require.ErrorIs(t, err, rootfs.ErrNoFile)

	_, err = file(packed[:len(packed)/2], 1<<20)
	require.ErrorContains(t, err, "require its")
	_, err = file([]byte("\x1f\x8b packed"), 1<<20)
	require.Error(t, err)
}

func TestADamagedImageIsAnError(t *testing.T) {
	t.Parallel()
	c := archive(t)
	c.add(t, "root.squashfs", squashfs(t, tree(t, "."), "-comp", "zstd"))
	packed := c.end(t)
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		damaged := bytes.Clone(packed)
		for range 20 {
			damaged[112+random.IntN(len(damaged)-112)] ^= byte(1 + random.IntN(255))
		}
		if content, err := file(damaged, 1<<20); err == nil {
			require.Len(t, content, len(program()))
		}
	}
}
