package liveisos

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"slipway/internal/cluster/openshift"
	"slipway/internal/platform/filelock"
)

const (
	imageSuffix  = ".iso"
	recordSuffix = ".json"
	partSuffix   = ".part"
	addingSuffix = ".adding"
)

// record is the JSON beside an image.
type record struct {
	OpenShiftVersion string    `json:"openshift_version"`
	CPUArchitecture  string    `json:"cpu_architecture"`
	Type             string    `json:"type,omitempty"`
	Version          string    `json:"version,omitempty"`
	Source           string    `json:"source"`          // address, or the path it was added from
	Added            bool      `json:"added,omitempty"` // not from the settings
	SHA256           string    `json:"sha256"`
	Size             int64     `json:"size"`
	Modified         time.Time `json:"modified"` // of the file when SHA256 was its digest
	At               time.Time `json:"at"`       // when it came into the folder
	// Unlisted is the time since which the settings do not list it.
	Unlisted *time.Time `json:"unlisted,omitempty"`
}

// partRecord is the JSON beside a part of a download.
type partRecord struct {
	Source       string `json:"source"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	Size         int64  `json:"size"`   // of the whole; zero: the server did not report it
	Synced       int64  `json:"synced"` // bytes that are on the disk for good
}

// fileName returns the name of an image in the folder. For downloads the digest is the address's, so that
// another address is another file; for other images the content's.
func fileName(o *openshift.OSImage, digest string) string {
	name := o.OpenShiftVersion + "-" + o.CPUArchitecture
	if o.Type != "" {
		name += "-" + o.Type
	}
	return name + "-" + digest[:12] + imageSuffix
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// lockPath differs from the names of images: locks stay when images are removed.
func lockPath(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock")
}

// openFile opens a file that a user named; for a pipe it does not wait for a writer.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

func readJSON[T any](path string) (v T, err error) {
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		return v, fmt.Errorf("read %s: %w", path, err)
	}
	return v, nil
}

func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := renameio.WriteFile(path, append(data, '\n'), 0o644, renameio.WithTempDir(filepath.Dir(path))); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// settle gives a complete file its name, after its record: a name in the folder always has a record. A previous
// file of the name is removed first, so that the record never describes an older file.
func settle(from, to string, r record) error {
	if err := remove(to); err != nil {
		return err
	}
	if err := writeJSON(to+recordSuffix, r); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("name operating system image: %w", err)
	}
	return syncFolder(filepath.Dir(to))
}

// syncFolder makes new names durable.
func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	return nil
}

// remove deletes files that may be missing already.
func remove(paths ...string) error {
	var errs []error
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// tryLock takes the lock of an image; nil when another process has it.
func tryLock(path string) (*filelock.Lock, error) { return filelock.Try(lockPath(path), 0o600) }

// lockedElsewhere checks without leaving a lock file behind.
func lockedElsewhere(path string) bool {
	lock, err := filelock.TryExisting(lockPath(path))
	if lock != nil {
		lock.Release()
	}
	return lock == nil && err == nil
}
