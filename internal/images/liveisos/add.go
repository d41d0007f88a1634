package liveisos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	humanize "github.com/dustin/go-humanize"
	"golang.org/x/sys/unix"

	"slipway/internal/cluster/openshift"
	"slipway/internal/images/remaster"
	"slipway/internal/model"
	"slipway/internal/platform/filelock"
)

// Addition is an ISO to add to the folder.
type Addition struct {
	File string
	// OpenShiftVersion is required. CPUArchitecture may be empty: the kernel's, else x86_64. Version
	// is the operating system's; empty: the version in the volume's label.
	OpenShiftVersion, CPUArchitecture, Type, Version string
	SHA256                                           string // required digest; empty: any
	// Link makes the image a hard link to the file instead of a copy.
	Link bool
	// OnProgress, if set, is called as bytes are copied.
	OnProgress func(done, size int64)
}

// Add checks an ISO and adds it to the folder, where every store of the folder finds it. It replaces an image
// that was added before with the same version, architecture and type. The error is a model.ErrInvalid when the
// file is not a suitable image.
func (s *Store) Add(ctx context.Context, a Addition) (*Image, error) {
	if _, err := openshift.ParseSHA256(a.SHA256); err != nil {
		return nil, fmt.Errorf("sha256: %w", err)
	}
	f, err := openFile(a.File)
	if err != nil {
		return nil, fmt.Errorf("open image: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("look at image: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, model.Invalidf("require a file, found %s (%s)", a.File, info.Mode().Type())
	}
	base, err := s.check(f, info.Size())
	if err != nil {
		return nil, model.Invalidf("%s: %s", a.File, err)
	}
	r, err := a.describe(f, base)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.o.Folder, 0o755); err != nil {
		return nil, fmt.Errorf("make folder of operating system images: %w", err)
	}
	r.Size, r.At = info.Size(), s.o.Now().UTC()
	path, err := s.take(ctx, f, a, r)
	if err != nil {
		return nil, err
	}
	e := addedEntry(path.file, path.record)
	if err := s.replaceOthers(e); err != nil {
		return nil, err
	}
	return s.look(e)
}

// describe fills in what the caller left empty from the image itself.
func (a *Addition) describe(f io.ReaderAt, base *remaster.Base) (record, error) {
	found := kernelArchitecture(f, base)
	o, err := openshift.NewOSImage(a.OpenShiftVersion, cmp.Or(a.CPUArchitecture, found, "x86_64"), a.Type)
	if err != nil {
		return record{}, model.Invalidf("%s", err)
	}
	if found != "" && found != o.CPUArchitecture {
		return record{}, model.Invalidf(
			"cpu_architecture: require the architecture of the kernel in %s, %s, found %s",
			a.File,
			found,
			o.CPUArchitecture,
		)
	}
	source, err := filepath.Abs(a.File)
	if err != nil {
		return record{}, fmt.Errorf("look at image: %w", err)
	}
	return record{
		OpenShiftVersion: o.OpenShiftVersion, CPUArchitecture: o.CPUArchitecture, Type: o.Type,
		Version: cmp.Or(a.Version, versionOf(base.Label())), Source: source, Added: true,
	}, nil
}

// versionOf returns the part of a volume's label after the name: rhcos-9.6.20250523-0.
func versionOf(label string) string {
	at := strings.IndexAny(label, "0123456789")
	if at < 0 {
		return label
	}
	return label[at:]
}

// taken is a file that is in its place in the folder.
type taken struct {
	file   string
	record record
}

// take copies or links the file, and gives it its name once its digest is verified.
func (s *Store) take(ctx context.Context, f *os.File, a Addition, r record) (out taken, err error) {
	temporary, err := s.bring(ctx, f, a, &r)
	if err != nil {
		return taken{}, err
	}
	defer func() { err = errors.Join(err, remove(temporary)) }()
	want, err := openshift.ParseSHA256(a.SHA256)
	if err != nil {
		return taken{}, fmt.Errorf("sha256: %w", err)
	}
	if want != "" && want != r.SHA256 {
		return taken{}, model.Invalidf("sha256 of %s: require %s, found %s", a.File, want, r.SHA256)
	}
	info, err := os.Stat(temporary)
	if err != nil {
		return taken{}, fmt.Errorf("look at image: %w", err)
	}
	if info.Size() != r.Size {
		return taken{}, model.Invalidf(
			"require a file that is not being written, found %s with %d bytes and then %d",
			a.File,
			r.Size,
			info.Size(),
		)
	}
	r.Modified = info.ModTime().UTC()
	path := filepath.Join(s.o.Folder, fileName(&openshift.OSImage{
		OpenShiftVersion: r.OpenShiftVersion, CPUArchitecture: r.CPUArchitecture, Type: r.Type,
	}, r.SHA256))
	return taken{path, r}, settle(temporary, path, r)
}

// bring makes a temporary file with the content in the folder, and computes its digest.
func (s *Store) bring(ctx context.Context, f *os.File, a Addition, r *record) (path string, err error) {
	onProgress := a.OnProgress
	if onProgress == nil {
		onProgress = func(int64, int64) {}
	}
	if a.Link {
		return s.link(ctx, f, func(done int64) { onProgress(done, r.Size) }, r)
	}
	to, err := os.CreateTemp(s.o.Folder, "*"+addingSuffix)
	if err != nil {
		return "", fmt.Errorf("copy image: %w", err)
	}
	defer func() {
		to.Close() // what must reach the disk is synced
		if err != nil {
			err = errors.Join(err, remove(to.Name()))
		}
	}()
	// Locked while it is written: an unlocked file is a leftover of a killed process.
	writing, err := filelock.TryExisting(to.Name())
	if err != nil {
		return "", err
	}
	if writing != nil {
		defer writing.Release()
	}
	// Where the file system shares blocks between files, a copy costs nothing.
	from, cloned := io.Reader(f), unix.IoctlFileClone(int(to.Fd()), int(f.Fd())) == nil
	if !cloned {
		if err := s.room(r.Size); err != nil {
			return "", err
		}
		from = io.TeeReader(f, to)
	}
	if r.SHA256, err = readDigest(ctx, from, func(done int64) { onProgress(done, r.Size) }); err != nil {
		return "", err
	}
	if err := errors.Join(to.Chmod(0o644), to.Sync()); err != nil {
		return "", fmt.Errorf("copy image: %w", err)
	}
	return to.Name(), nil
}

// link makes a hard link to the file.
func (s *Store) link(ctx context.Context, f *os.File, onProgress func(int64), r *record) (string, error) {
	source, err := filepath.EvalSymlinks(f.Name())
	if err != nil {
		return "", fmt.Errorf("link image: %w", err)
	}
	if r.SHA256, err = readDigest(ctx, f, onProgress); err != nil {
		return "", err
	}
	path := filepath.Join(s.o.Folder, r.SHA256+addingSuffix)
	if err := remove(path); err != nil {
		return "", fmt.Errorf("link image: %w", err)
	}
	if err := os.Link(source, path); errors.Is(err, unix.EXDEV) {
		return "", model.Invalidf(
			"%s cannot be linked: it is not on the file system of %s: leave --link out",
			source,
			s.o.Folder,
		)
	} else if err != nil {
		return "", fmt.Errorf("link image: %w", err)
	}
	return path, nil
}

// room returns an error when a file does not fit on the disk.
func (s *Store) room(size int64) error {
	found, err := s.o.Free(s.o.Folder)
	if err != nil {
		return err
	}
	return enough(s.o.Folder, size+size/20, found)
}

func enough(folder string, need, found int64) error {
	if found >= need {
		return nil
	}
	return fmt.Errorf("require %s of free disk space in %s, found %s",
		humanize.IBytes(uint64(need)), folder, humanize.IBytes(uint64(max(found, 0)))) //nolint:gosec // sizes
}
