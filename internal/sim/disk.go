package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"slipway/internal/sim/hardware"
)

// DiskContent is the content of a simulated disk.
type DiskContent struct {
	// ID names this writing of the disk.
	ID       string    `json:"id"`
	Image    string    `json:"image"`
	Ignition []byte    `json:"ignition"`
	SHA256   string    `json:"sha256"` // of Ignition, hex
	Source   string    `json:"source"` // the file Ignition was read from
	At       time.Time `json:"at"`
}

// A disk's file begins like a disk: a boot sector, whose signature makes it bootable, then the content. Tools
// that wipe or overwrite the first sector do here what they do to a real disk.
const (
	sectorSize    = 512
	contentOffset = 8 * sectorSize
)

func diskPath(dir, name string) string { return filepath.Join(dir, "disks", name+".img") }

// ReadDisk reads what is on a disk of the machine in dir; nil when it does not boot.
func ReadDisk(dir, name string) (*DiskContent, error) {
	file, err := os.Open(diskPath(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read disk %s: %w", name, err)
	}
	defer file.Close()
	sector := make([]byte, sectorSize)
	if _, err := file.ReadAt(sector, 0); err != nil {
		return nil, fmt.Errorf("read disk %s: %w", name, err)
	}
	if sector[510] != 0x55 || sector[511] != 0xAA {
		return nil, nil
	}
	content := &DiskContent{}
	if err := json.NewDecoder(io.NewSectionReader(file, contentOffset, 1<<30)).Decode(content); err != nil {
		return nil, fmt.Errorf("read disk %s: %w", name, err)
	}
	return content, nil
}

// openDisk makes the file of a disk unless it exists.
func openDisk(dir string, d hardware.Disk) (string, error) {
	path := diskPath(dir, d.Name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, make([]byte, sectorSize), 0o644)
}

// wipeDisk makes a disk unbootable, as the first write of any tool does.
func wipeDisk(dir, name string) error {
	file, err := os.OpenFile(diskPath(dir, name), os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("wipe disk %s: %w", name, err)
	}
	defer file.Close()
	if _, err := file.WriteAt(make([]byte, sectorSize), 0); err != nil {
		return fmt.Errorf("wipe disk %s: %w", name, err)
	}
	return nil
}

// writeDisk writes content in place, the boot sector last: a disk whose writing was
// interrupted does not boot.
func writeDisk(dir, name string, content *DiskContent) error {
	text, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("write disk %s: %w", name, err)
	}
	file, err := os.OpenFile(diskPath(dir, name), os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("write disk %s: %w", name, err)
	}
	defer file.Close()
	sector := make([]byte, sectorSize)
	sector[510], sector[511] = 0x55, 0xAA
	for _, part := range []struct {
		data []byte
		at   int64
	}{{make([]byte, sectorSize), 0}, {text, contentOffset}, {sector, 0}} {
		if _, err := file.WriteAt(part.data, part.at); err != nil {
			return fmt.Errorf("write disk %s: %w", name, err)
		}
		if err := file.Sync(); err != nil {
			return fmt.Errorf("write disk %s: %w", name, err)
		}
	}
	return file.Truncate(contentOffset + int64(len(text)))
}
