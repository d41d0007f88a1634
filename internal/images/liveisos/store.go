package liveisos

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/Masterminds/semver/v3"

	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
)

// Store returns the images on disk, and downloads the others. It is safe for concurrent use.
type Store struct {
	o      Options
	listed []*entry // newest first
	wake   chan struct{}

	mu      sync.Mutex
	added   map[string]*entry // by path
	offered []*entry          // both, newest first, one for a key
	seen    time.Time         // last change of the folder that was seen
	since   time.Time         // when that was seen first
	settled bool              // the last look was a while after that
}

// Open makes a store of a folder; it downloads nothing before Run, and writes nothing.
func Open(o Options) (*Store, error) {
	if !filepath.IsAbs(o.Folder) {
		return nil, fmt.Errorf("folder of operating system images: require an absolute path, found %q", o.Folder)
	}
	s := &Store{o: o.complete(), wake: make(chan struct{}, 1), added: map[string]*entry{}}
	images := slices.Clone(o.Images)
	images.Sort()
	for i := range images {
		e := newEntry(images[i], images[i].Path)
		if e.inPlace = e.path != ""; !e.inPlace {
			e.path = filepath.Join(o.Folder, fileName(&images[i], digestOf(images[i].URL)))
		}
		if o.OnDemand && !e.inPlace && !begun(e.path) {
			e.state = StateOnDemand
		}
		s.listed = append(s.listed, e)
	}
	s.merge()
	return s, nil
}

// begun reports whether a download was begun before.
func begun(path string) bool {
	_, err := os.Stat(path + partSuffix)
	return err == nil
}

// Find returns the image that hosts of a version and architecture boot, chosen as openshift.OSImages.Find does; imageType is empty or
// openshift.TypeDisconnectedISO. An image that is not on disk is downloaded.
//
// Errors: model.ErrInvalid for an invalid version, model.ErrNotFound when no such image is available, *NotReady while it is listed but not
// on disk.
func (s *Store) Find(version, architecture, imageType string) (*Image, error) {
	return s.find(version, architecture, imageType, (*progress).request)
}

// Present does what Find does, for callers without a credential: it lets no image be downloaded.
func (s *Store) Present(version, architecture, imageType string) (*Image, error) {
	return s.find(version, architecture, imageType, func(*progress) {})
}

func (s *Store) find(version, architecture, imageType string, request func(*progress)) (*Image, error) {
	e, err := s.choose(version, architecture, imageType)
	if err != nil {
		return nil, err
	}
	found, err := s.look(e)
	if err != nil {
		return nil, s.missing(e, err, request)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !e.running && e.state != StateReady {
		e.succeeded(found)
	}
	return found, nil
}

// Offered lists the images that can be requested, on disk or not.
func (s *Store) Offered() openshift.OSImages {
	var list openshift.OSImages
	for _, e := range s.entries() {
		list = append(list, e.image)
	}
	return list
}

func (s *Store) choose(version, architecture, imageType string) (*entry, error) {
	entries := s.entries()
	offered := make(openshift.OSImages, len(entries))
	names := make([]string, len(entries))
	for i, e := range entries {
		offered[i], names[i] = e.image, e.image.Key().String()
	}
	chosen, found, err := offered.Lookup(version, architecture, imageType)
	if err != nil {
		return nil, err
	}
	if found {
		return entries[slices.IndexFunc(entries, func(e *entry) bool { return e.image.Key() == chosen.Key() })], nil
	}
	have := "none"
	if len(names) > 0 {
		have = strings.Join(names, ", ")
	}
	asked := openshift.OSImageKey{Version: version, Architecture: architecture, Type: imageType}
	return nil, model.NotFoundf(
		"no operating system image for OpenShift %s, available: %s; list it in OS_IMAGES, or add it with: slipway images add FILE",
		asked,
		have,
	)
}

// entries lists the current images.
func (s *Store) entries() []*entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	return s.offered
}

// refresh searches for images that were added or removed, when the folder has changed.
func (s *Store) refresh() {
	info, err := os.Stat(s.o.Folder)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && len(s.added) > 0 {
			s.added = map[string]*entry{}
			s.merge()
		}
		return // it may come back
	}
	if s.settled && info.ModTime().Equal(s.seen) {
		return
	}
	// The clock of file systems is coarse: a change right after this look may have the same time. It may also
	// be another clock, which is wrong by hours.
	now := s.o.Now()
	if !info.ModTime().Equal(s.seen) {
		s.seen, s.since = info.ModTime(), now
	}
	s.settled = now.Sub(s.since) > coarseClock
	added := map[string]*entry{}
	for path, r := range s.records() {
		if !r.Added {
			continue
		}
		e := s.added[path]
		if e == nil || e.record != r {
			e = addedEntry(path, r)
		}
		added[path] = e
	}
	if maps.Equal(added, s.added) {
		return // most changes are files that come and go while images are downloaded
	}
	s.added = added
	s.merge()
	s.nudge()
}

// records reads the records of the images in the folder, by the path of the image.
func (s *Store) records() map[string]record {
	found := map[string]record{}
	files, err := os.ReadDir(s.o.Folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.o.Log.Warn("folder of operating system images not read", "err", err)
	}
	for _, file := range files {
		name, isRecord := strings.CutSuffix(file.Name(), recordSuffix)
		if !isRecord || !strings.HasSuffix(name, imageSuffix) {
			continue
		}
		path := filepath.Join(s.o.Folder, name)
		r, err := readJSON[record](path + recordSuffix)
		if err == nil {
			_, err = openshift.NewOSImage(r.OpenShiftVersion, r.CPUArchitecture, r.Type)
		}
		switch {
		case err == nil:
			found[path] = r
		case !errors.Is(err, fs.ErrNotExist):
			s.o.Log.Warn("operating system image left out", "file", path, "err", err)
		}
	}
	return found
}

func addedEntry(path string, r record) *entry {
	e := newEntry(openshift.OSImage{
		OpenShiftVersion: r.OpenShiftVersion, CPUArchitecture: r.CPUArchitecture, Type: r.Type, Version: r.Version,
		URL: (&url.URL{Scheme: "file", Path: path}).String(), SHA256: r.SHA256, Path: path,
	}, path)
	e.added, e.record = true, r
	return e
}

// merge makes the list of available images. An added image replaces a listed one, and of two added ones the
// later counts.
func (s *Store) merge() {
	byKey := map[openshift.OSImageKey]*entry{}
	for _, e := range s.listed {
		byKey[e.image.Key()] = e
	}
	for _, e := range s.added {
		if other := byKey[e.image.Key()]; other == nil || !other.added || e.record.At.After(other.record.At) {
			byKey[e.image.Key()] = e
		}
	}
	s.offered = slices.SortedFunc(maps.Values(byKey), func(a, b *entry) int {
		x, y := semver.MustParse(a.image.OpenShiftVersion), semver.MustParse(b.image.OpenShiftVersion) // they were verified before
		return cmp.Or(y.Compare(x), cmp.Compare(a.image.Key().String(), b.image.Key().String()))
	})
}

// nudge makes Run check again.
func (s *Store) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
