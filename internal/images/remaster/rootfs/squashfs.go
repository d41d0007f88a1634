package rootfs

import (
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/diskfs/go-diskfs/backend"
	"github.com/diskfs/go-diskfs/filesystem/squashfs"

	"slipway/internal/images/remaster/layout"
)

// The superblock of squashfs (kernel.org, filesystems/squashfs).
const (
	superblockSize = 96
	blockSizeAt    = 12
	flagsAt        = 24
	xattrTableAt   = 56
	noXattrs       = 0x0200
	maxBlockSize   = 1 << 20

	// blockCache is the memory for blocks that were read. Directories are near each other.
	blockCache = 16 << 20
)

// openSquashfs opens an image as if it had no extended attributes: they are not needed here, and the library
// fails on files that have three (go-diskfs 1.9.4): SELinux label, capabilities and a signature are not rare.
func openSquashfs(r *io.SectionReader) (fs.FS, error) {
	superblock := make([]byte, superblockSize)
	if _, err := r.ReadAt(superblock, 0); err != nil {
		return nil, fmt.Errorf("read the superblock: %w", err)
	}
	if size := binary.LittleEndian.Uint32(superblock[blockSizeAt:]); size > maxBlockSize {
		return nil, fmt.Errorf("require blocks of at most %d bytes, found %d", maxBlockSize, size)
	}
	flags := binary.LittleEndian.Uint16(superblock[flagsAt:]) | noXattrs
	patched, err := layout.Of(layout.Base(0, r.Size())).Over(
		layout.Patch{Offset: flagsAt, Data: binary.LittleEndian.AppendUint16(nil, flags)},
		layout.Patch{Offset: xattrTableAt, Data: binary.LittleEndian.AppendUint64(nil, ^uint64(0))},
	)
	if err != nil {
		return nil, err
	}
	image := patched.Reader(r)
	files, err := squashfs.Read(storage{image}, image.Size(), 0, 0)
	if err != nil {
		return nil, err
	}
	files.SetCacheSize(blockCache)
	return files, nil
}

// storage is how the library reads: there is no file of its own behind it.
type storage struct{ *io.SectionReader }

func (storage) Stat() (fs.FileInfo, error)              { return nil, fs.ErrInvalid }
func (storage) Close() error                            { return nil }
func (storage) Sys() (*os.File, error)                  { return nil, backend.ErrNotSuitable }
func (storage) Writable() (backend.WritableFile, error) { return nil, backend.ErrIncorrectOpenMode }
func (storage) Path() string                            { return "" }
