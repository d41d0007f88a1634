package liveisos

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"slipway/internal/cluster/openshift"
	"slipway/internal/images/remaster"
	"slipway/internal/model"
)

// Image is a live ISO that is on disk, complete and verified.
type Image struct {
	openshift.OSImage
	Path string
	Size int64 // in bytes
	// Modified is when the file changed, or was put in its place: a file may be older than the one it replaced.
	Modified time.Time
	// ID changes when the content does, and is the same wherever the same content was downloaded or added.
	// Images used in place without a digest in the settings have an ID of their name, size and time.
	ID string
	// Digest is the sha256 of the content; empty: unknown.
	Digest string
	Base   *remaster.Base

	info fs.FileInfo
}

// Open returns the file that Base was read from; when another one has replaced it meanwhile, the error is a
// model.ErrUnavailable: find the image again.
func (i *Image) Open() (*os.File, error) {
	f, err := os.Open(i.Path)
	if err != nil {
		return nil, i.changed(err)
	}
	info, err := f.Stat()
	if err == nil && !same(info, i.info) {
		err = errors.New("the file changed")
	}
	if err != nil {
		_ = f.Close()
		return nil, i.changed(err)
	}
	return f, nil
}

func (i *Image) changed(err error) error {
	return fmt.Errorf("open operating system image %s: %w: %w", i.Key(), err, model.ErrUnavailable)
}

// same reports whether a file is another, or has other content.
func same(a, b fs.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

var (
	// errAbsent: the file does not exist, or is not the listed one.
	errAbsent = errors.New("the file does not exist")
	// errUnverified: the digest of a file used in place has to be taken first.
	errUnverified = errors.New("the file has not been checked yet")
)

// look returns the image of an entry as it is on disk now. The ISO is read only when the file has changed.
func (s *Store) look(e *entry) (*Image, error) {
	e.reading.Lock()
	defer e.reading.Unlock()
	info, err := os.Stat(e.path)
	if errors.Is(err, fs.ErrNotExist) && !e.inPlace {
		return nil, errAbsent
	}
	if err != nil {
		return nil, fmt.Errorf("look at operating system image: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("require a file, found %s (%s)", e.path, info.Mode().Type())
	}
	if e.kept != nil && same(e.kept.info, info) {
		return e.kept, nil
	}
	e.kept = nil
	found := &Image{OSImage: e.image, Path: e.path, Size: info.Size(), Modified: changedAt(e.path, info), info: info}
	if found.ID, err = e.identify(info); err != nil {
		return nil, err
	}
	if _, err := openshift.ParseSHA256(found.ID); err == nil {
		found.Digest = found.ID
	}
	if found.Base, err = s.readBase(e.path, info); err != nil {
		return nil, err
	}
	e.kept = found
	return found, nil
}

// changedAt returns the latest time that the file system has of a file, and of a link to it.
func changedAt(path string, info fs.FileInfo) time.Time {
	latest := info.ModTime()
	link, err := os.Lstat(path)
	if err != nil {
		link = info
	}
	for _, i := range []fs.FileInfo{info, link} {
		if stat, ok := i.Sys().(*syscall.Stat_t); ok {
			if at := time.Unix(stat.Ctim.Unix()); at.After(latest) {
				latest = at
			}
		}
	}
	return latest
}

func (s *Store) readBase(path string, info fs.FileInfo) (*remaster.Base, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open operating system image: %w", err)
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !same(opened, info) {
		return nil, errors.Join(errAbsent, err) // replaced between the two looks
	}
	return s.check(f, info.Size())
}

func (s *Store) check(r io.ReaderAt, size int64) (*remaster.Base, error) {
	base, err := s.o.Inspect(r, size)
	if err != nil {
		return nil, fmt.Errorf("require a live ISO of CoreOS: %w", err)
	}
	return base, nil
}

// identify verifies a file by what is known of it, and returns its id.
func (e *entry) identify(info fs.FileInfo) (string, error) {
	unknown := fmt.Sprintf("%s-%d-%d", filepath.Base(e.path), info.Size(), info.ModTime().UnixNano())
	if e.inPlace {
		switch {
		case e.image.SHA256 == "":
			return unknown, nil
		case same(e.verified, info):
			return e.image.SHA256, nil
		}
		return "", errUnverified
	}
	r := e.record
	if !e.added {
		var err error
		if r, err = readJSON[record](e.path + recordSuffix); err != nil {
			return "", errors.Join(errAbsent, err)
		}
	}
	if e.image.SHA256 != "" && r.SHA256 != e.image.SHA256 {
		return "", errAbsent
	}
	if r.Size != info.Size() {
		return "", e.damaged(r.Size, info.Size())
	}
	if r.Modified.Equal(info.ModTime()) {
		return r.SHA256, nil
	}
	// Copied without its time, or written to: the digest may be outdated.
	if e.added || e.image.SHA256 == "" {
		return unknown, nil
	}
	return e.verifyAgain(info)
}

// verifyAgain takes the digest of a download that has changed since, and returns it. Another one than the settings require is fetched
// again.
func (e *entry) verifyAgain(info fs.FileInfo) (string, error) {
	if same(e.verified, info) {
		return e.image.SHA256, nil
	}
	f, err := openFile(e.path)
	if err != nil {
		return "", fmt.Errorf("open operating system image: %w", err)
	}
	defer f.Close()
	taken := newDigest()
	if _, err := io.Copy(taken.sum, f); err != nil {
		return "", fmt.Errorf("read operating system image: %w", err)
	}
	sum := taken.String()
	if sum != e.image.SHA256 {
		return "", errors.Join(errAbsent, fmt.Errorf("sha256: require %s, found %s", e.image.SHA256, sum))
	}
	e.verified = info
	return sum, nil
}

// damaged returns the error for a file of another size: downloads are fetched again.
func (e *entry) damaged(want, found int64) error {
	err := fmt.Errorf("require %d bytes as downloaded or added, found %d", want, found)
	if e.added {
		return err
	}
	return errors.Join(errAbsent, err)
}
