package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"
	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"

	"slipway/internal/client"
)

// part is an incomplete file: FILE.part, with a note beside it (FILE.part.json) that identifies its image. Both
// stay when a download ends early. Only their owner may read them, because an image contains a pull secret.
type part struct {
	file *os.File
	path string
	size int64 // bytes that are there
	// foreign is set when the existing part belongs to another image.
	foreign bool
	partNote
}

// partNote is the content of the note. It contains no address, which may give access to more than the image.
type partNote struct {
	Image string `json:"image"` // InfraEnv, version, architecture and type
	ETag  string `json:"etag"`
	Size  int64  `json:"size"` // of the whole image, in bytes
	// Synced is how many bytes of the part are durably on the disk: further bytes may be damaged after a power
	// failure.
	Synced int64 `json:"synced"`
}

// syncBytes is how often a part is synced to the disk.
const syncBytes = 64 << 20

// openPart opens the part of a file, or makes an empty one; it belongs to one process.
func openPart(target, image string) (*part, error) {
	p := &part{path: target + ".part"}
	file, err := os.OpenFile(p.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the file: %w", err)
	}
	p.file = file
	if err := errors.Join(p.own(), p.recall(image)); err != nil {
		file.Close()
		return nil, err
	}
	return p, nil
}

// recall determines how much of an image is present. A note that cannot be read counts as missing, and a part
// without a note is not used.
func (p *part) recall(image string) error {
	content, err := os.ReadFile(p.notePath())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read the note of the part: %w", err)
	}
	if json.Unmarshal(content, &p.partNote) != nil || p.Image != image || p.ETag == "" {
		p.foreign, p.partNote = p.Image != "" && p.Image != image, partNote{Image: image}
		return nil
	}
	end, err := p.file.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("read the size of the part: %w", err)
	}
	p.size = min(end, p.Synced)
	return nil
}

// own ensures that no other process writes the part, or has just finished it.
func (p *part) own() error {
	err := unix.Flock(int(p.file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return fmt.Errorf("another download writes %s", p.path)
	}
	mine, errMine := p.file.Stat()
	there, errThere := os.Stat(p.path)
	if err := errors.Join(err, errMine, errThere); err != nil {
		return fmt.Errorf("lock the file: %w", err)
	}
	if !os.SameFile(mine, there) {
		return fmt.Errorf("another download has just finished %s", p.path)
	}
	return nil
}

func (p *part) notePath() string { return p.path + ".json" }

// Close releases the part for other processes.
func (p *part) Close() { p.file.Close() }

func (p *part) have() (int64, string) {
	if p.ETag == "" {
		return 0, ""
	}
	return p.size, p.ETag
}

// begin assigns the part to an image, up to the byte it begins at.
func (p *part) begin(image *client.Image) error {
	if err := p.file.Truncate(image.From); err != nil {
		return fmt.Errorf("write %s: %w", p.path, err)
	}
	if _, err := p.file.Seek(image.From, io.SeekStart); err != nil {
		return fmt.Errorf("write %s: %w", p.path, err)
	}
	p.size, p.ETag, p.Size = image.From, image.ETag, image.Size
	if err := p.room(image.Size - image.From); err != nil {
		return err
	}
	return p.sync()
}

// sync writes the part to the disk durably, and then updates the note.
func (p *part) sync() error {
	if err := p.file.Sync(); err != nil {
		return fmt.Errorf("write %s: %w", p.path, err)
	}
	p.Synced = p.size
	content, err := json.Marshal(p.partNote)
	if err == nil {
		err = renameio.WriteFile(p.notePath(), content, 0o600, renameio.WithTempDir(filepath.Dir(p.path)))
	}
	if err != nil {
		return fmt.Errorf("write the note of the part: %w", err)
	}
	return nil
}

// room reports a disk that is too small, before it is full.
func (p *part) room(need int64) error {
	var disk unix.Statfs_t
	if err := unix.Fstatfs(int(p.file.Fd()), &disk); err != nil {
		return fmt.Errorf("look for room on the disk of %s: %w", p.path, err)
	}
	free := int64(min(disk.Bavail, 1<<40)) * disk.Bsize //nolint:gosec // bounded
	if free < need {
		return fmt.Errorf(
			"require %s of free disk space in %s, found %s",
			humanize.IBytes(uint64(need)),
			filepath.Dir(p.path),
			humanize.IBytes(uint64(free)),
		) //nolint:gosec // sizes
	}
	return nil
}

// Write implements io.Writer.
func (p *part) Write(b []byte) (int, error) {
	n, err := p.file.Write(b)
	p.size += int64(n)
	if err == nil && p.size-p.Synced >= syncBytes {
		err = p.sync()
	}
	return n, err
}

// finish renames the part when it is durably on the disk.
func (p *part) finish(target string) error {
	if p.size != p.Size {
		return fmt.Errorf("finish %s: require %d bytes, found %d", target, p.Size, p.size)
	}
	if err := p.file.Sync(); err != nil {
		return fmt.Errorf("finish %s: %w", target, err)
	}
	if err := os.Rename(p.path, target); err != nil {
		return fmt.Errorf("finish %s: %w", target, err)
	}
	_ = os.Remove(p.notePath()) // of no use any more
	return syncDir(filepath.Dir(target))
}

func syncDir(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("write the folder: %w", err)
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil {
		return fmt.Errorf("write the folder: %w", err)
	}
	return nil
}

// kept adds to an error how to continue; an empty part is removed.
func (p *part) kept(err error) error {
	if have, _ := p.have(); have == 0 {
		_ = os.Remove(p.path)
		_ = os.Remove(p.notePath())
		return err
	}
	if errSync := p.sync(); errSync != nil {
		return errors.Join(err, errSync)
	}
	return &Failure{
		fmt.Errorf("%w; %s are kept in %s: the same command continues there", err, amount(p.size, p.Size), p.path),
		ExitCode(err),
	}
}
