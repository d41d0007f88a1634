package liveisos

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/platform/filelock"
)

// tidy removes leftovers of downloads that are not needed any more, and returns when it looked.
// Only files of this package are removed, never added images.
//
// Parts are removed at once. Complete downloads that are not listed any more stay for a week: undoing
// a change of the settings then costs no download, and another service on the same folder
// that still lists one records that every day.
func (s *Store) tidy() time.Time {
	now := s.o.Now()
	needed := map[string]bool{}
	for _, e := range s.listed {
		needed[e.path] = true
	}
	for path, r := range s.records() {
		if r.Added {
			continue
		}
		if err := s.review(path, r, needed[path], now); err != nil {
			s.o.Log.Warn("operating system image not tidied", "file", path, "err", err)
		}
	}
	files, err := os.ReadDir(s.o.Folder)
	if err != nil {
		s.o.Log.Warn("folder of operating system images not read", "err", err)
	}
	for _, file := range files {
		if err := s.leftOver(filepath.Join(s.o.Folder, file.Name()), needed); err != nil {
			s.o.Log.Warn("part of operating system image not removed", "file", file.Name(), "err", err)
		}
	}
	return now
}

// review decides about one download.
func (s *Store) review(path string, r record, needed bool, now time.Time) error {
	switch {
	case needed && r.Unlisted != nil:
		r.Unlisted = nil
	case !needed && r.Unlisted == nil:
		at := now.UTC()
		r.Unlisted = &at
		s.o.Log.Info("operating system image is not listed any more", "file", path, "bytes", r.Size, "removed_at", at.Add(keepUnlisted))
	case !needed && now.Sub(*r.Unlisted) >= keepUnlisted:
		return s.drop(path)
	default:
		return nil
	}
	return writeJSON(path+recordSuffix, r)
}

// drop removes an image with all its files, unless another process writes it.
func (s *Store) drop(path string) error {
	lock, err := tryLock(path)
	if err != nil {
		return err
	}
	if lock == nil {
		return fmt.Errorf("remove %s: %w", path, errBusy)
	}
	defer lock.Release()
	part := path + partSuffix
	if err := remove(path, path+recordSuffix, part, part+recordSuffix); err != nil {
		return err
	}
	s.o.Log.Info("operating system image removed", "file", path)
	return nil
}

// leftOver removes a part of an image that is not listed, and a copy whose process died.
func (s *Store) leftOver(path string, needed map[string]bool) error {
	if strings.HasSuffix(path, addingSuffix) {
		return s.abandoned(path)
	}
	image, isPart := strings.CutSuffix(path, partSuffix+recordSuffix)
	if !isPart || needed[image] {
		return nil
	}
	lock, err := tryLock(image)
	if lock == nil || err != nil {
		return err
	}
	defer lock.Release()
	return remove(image+partSuffix, path)
}

func (s *Store) abandoned(path string) error {
	lock, err := filelock.TryExisting(path)
	if lock == nil || err != nil {
		return err
	}
	defer lock.Release()
	return remove(path)
}

// replaceOthers removes images that were added before for the same key.
func (s *Store) replaceOthers(e *entry) error {
	for path, r := range s.records() {
		if path == e.path || !r.Added || r.key() != e.image.Key() {
			continue
		}
		if err := s.drop(path); err != nil {
			return err
		}
	}
	return nil
}

func (r *record) key() openshift.OSImageKey {
	return openshift.OSImageKey{Version: r.OpenShiftVersion, Architecture: r.CPUArchitecture, Type: r.Type}
}

// Remove removes the image of a version, architecture and type from the folder, whether it was added or
// downloaded; images used in place stay. It returns the removed files. The error is a model.ErrNotFound when
// there is none.
func (s *Store) Remove(version, architecture, imageType string) ([]string, error) {
	o, err := openshift.NewOSImage(version, architecture, imageType)
	if err != nil {
		return nil, model.Invalidf("%s", err)
	}
	var removed []string
	var errs []error
	for path, r := range s.records() {
		if r.key() != o.Key() {
			continue
		}
		if err := s.drop(path); err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, path)
	}
	if len(removed) == 0 && len(errs) == 0 {
		return nil, model.NotFoundf("no image for OpenShift %s in %s", o.Key(), s.o.Folder)
	}
	return removed, errors.Join(errs...)
}
