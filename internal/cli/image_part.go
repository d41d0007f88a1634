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

// part is a file that is not complete yet: FILE.part, with a note beside it (FILE.part.json)
// of the image it is a part of. Both stay when a download ends early. Nobody but its
// owner may read it, because an image has a pull secret in it.
type part struct {
	file *os.File
	path string
	size int64 // bytes that are there
	// foreign says that what was found there is of another image.
	foreign bool
	partNote
}

// partNote is the content of the note. There is no address in it, which may open more
// than the image.
type partNote struct {
	Image string `json:"image"` // environment, version, architecture and type
	ETag  string `json:"etag"`
	Size  int64  `json:"size"` // of the whole image, in bytes
	// Synced is how many bytes of the part are on the disk for good: more may be there, and
	// not be what it was after a loss of power.
	Synced int64 `json:"synced"`
}

// syncBytes is how often a part is brought to the disk for good.
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

// recall finds out what is there of an image. A note that cannot be read is none, and what
// is there without a note is not used.
func (p *part) recall(image string) error {
	content, err := os.ReadFile(p.notePath())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read what the part belongs to: %w", err)
	}
	if json.Unmarshal(content, &p.partNote) != nil || p.Image != image || p.ETag == "" {
		p.foreign, p.partNote = p.Image != "" && p.Image != image, partNote{Image: image}
		return nil
	}
	end, err := p.file.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("look how much is there: %w", err)
	}
	p.size = min(end, p.Synced)
	return nil
}

// own sees to it that no other process writes the part, nor has just finished it.
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

// Close lets others have the part.
func (p *part) Close() { p.file.Close() }

func (p *part) have() (int64, string) {
	if p.ETag == "" {
		return 0, ""
	}
	return p.size, p.ETag
}

// begin makes the part one of an image, up to the byte it begins at.
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

// sync brings what is there to the disk, and then notes it.
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
		return fmt.Errorf("note what the part belongs to: %w", err)
	}
	return nil
}

// room says so when the disk is too small, before it is full.
func (p *part) room(need int64) error {
	var disk unix.Statfs_t
	if err := unix.Fstatfs(int(p.file.Fd()), &disk); err != nil {
		return fmt.Errorf("look for room on the disk of %s: %w", p.path, err)
	}
	free := int64(min(disk.Bavail, 1<<40)) * disk.Bsize //nolint:gosec // bounded
	if free < need {
		return fmt.Errorf("require %s of free disk space in %s, found %s", humanize.IBytes(uint64(need)), filepath.Dir(p.path), humanize.IBytes(uint64(free))) //nolint:gosec // sizes
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

// finish gives the part its name, when it is on the disk.
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
	_ = os.Remove(p.notePath()) // of no use to anybody any more
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

// kept adds to an error how to go on; an empty part goes away.
func (p *part) kept(err error) error {
	if have, _ := p.have(); have == 0 {
		_ = os.Remove(p.path)
		_ = os.Remove(p.notePath())
		return err
	}
	if errSync := p.sync(); errSync != nil {
		return errors.Join(err, errSync)
	}
	return &Failure{fmt.Errorf("%w; %s are kept in %s: the same command goes on there", err, amount(p.size, p.Size), p.path), ExitCode(err)}
}
