package osimages

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

// Store gives the images that are there, and gets those that are not. It is safe for
// many callers.
type Store struct {
	o      Options
	listed []*entry // newest first
	wake   chan struct{}

	mu      sync.Mutex
	added   map[string]*entry // by path
	offered []*entry          // both, newest first, one for a key
	seen    time.Time         // when the folder had changed last, as of the last look
	since   time.Time         // when that was seen first
	settled bool              // that was a while before the last look
}

// Open makes a store of a folder; nothing is downloaded before Run, and nothing written.
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
		s.listed = append(s.listed, e)
	}
	s.merge()
	return s, nil
}

// Find gives the image that hosts of a version and architecture boot, chosen as
// openshift.OSImages.Find does; imageType is empty or openshift.TypeDisconnectedISO.
//
// Errors: model.ErrInvalid when the version is none, model.ErrNotFound when no such image
// is on offer, *NotReady while it is on offer but not there.
func (s *Store) Find(version, architecture, imageType string) (*Image, error) {
	e, err := s.choose(version, architecture, imageType)
	if err != nil {
		return nil, err
	}
	found, err := s.look(e)
	if err != nil {
		return nil, s.missing(e, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !e.running && e.state != StateReady {
		e.succeeded(found)
	}
	return found, nil
}

// Offered are the images that can be asked for, there or not.
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
	return nil, model.NotFoundf("require an operating system image for OpenShift %s, found %s; list it in OS_IMAGES, or add it with: slipway images add FILE",
		asked, have)
}

// entries are the images on offer, as of now.
func (s *Store) entries() []*entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	return s.offered
}

// refresh looks for images that were added or removed, when the folder has changed.
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
	// The clock of file systems is coarse: a change right after this look may carry the
	// same time. It may also be another clock, which is wrong by hours.
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

// records are those of the images in the folder, by the path of the image.
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

// merge makes the list of what is on offer. An added image stands before a listed one,
// and of two added ones the later.
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
		x, y := semver.MustParse(a.image.OpenShiftVersion), semver.MustParse(b.image.OpenShiftVersion) // they were checked before
		return cmp.Or(y.Compare(x), cmp.Compare(a.image.Key().String(), b.image.Key().String()))
	})
}

// nudge makes Run look again.
func (s *Store) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
