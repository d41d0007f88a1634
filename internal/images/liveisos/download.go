package liveisos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// download is one try to fetch one image.
type download struct {
	s    *Store
	e    *entry
	file *os.File
	part partRecord
	sum  *digest
	at   int64 // bytes in the file and in the digest
}

// download fetches an image into the folder, beginning where the last try ended.
func (s *Store) download(ctx context.Context, e *entry) error {
	lock, err := tryLock(e.path)
	if err != nil {
		return err
	}
	if lock == nil {
		return errBusy
	}
	defer lock.Release()
	if _, err := s.look(e); err == nil {
		return nil // another process has downloaded it meanwhile
	}
	file, err := os.OpenFile(e.path+partSuffix, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return fmt.Errorf("write operating system image: %w", err)
	}
	defer file.Close()
	d := &download{s: s, e: e, file: file, sum: newDigest()}
	if err := d.reopen(ctx); err != nil {
		return err
	}
	if d.part.Size == 0 || d.at < d.part.Size {
		if err := d.fetch(ctx); err != nil {
			return err
		}
	}
	return d.finish()
}

// reopen continues the part that an earlier try left, as far as it is certainly on the disk.
func (d *download) reopen(ctx context.Context) error {
	part, err := readJSON[partRecord](d.recordPath())
	info, errFile := d.file.Stat()
	if err != nil || errFile != nil || !part.resumable(d.e.image.SHA256) {
		return d.restart()
	}
	d.part, d.at = part, min(part.Synced, info.Size())
	if err := d.file.Truncate(d.at); err != nil {
		return fmt.Errorf("resume part of operating system image: %w", err)
	}
	if err := d.sum.read(ctx, io.NewSectionReader(d.file, 0, d.at), nil); err != nil {
		return err
	}
	d.s.advance(d.e, d.at, d.part.Size)
	return nil
}

// restart discards the part.
func (d *download) restart() error {
	d.part, d.at, d.sum = partRecord{}, 0, newDigest()
	if err := errors.Join(remove(d.recordPath()), d.file.Truncate(0)); err != nil {
		return fmt.Errorf("begin operating system image: %w", err)
	}
	return nil
}

func (d *download) recordPath() string { return d.e.path + partSuffix + recordSuffix }

// finish verifies the whole file, and gives it its name.
func (d *download) finish() error {
	if want, found := d.e.image.SHA256, d.sum.String(); want != "" && want != found {
		return d.refuse(fmt.Errorf("sha256: require %s, found %s", want, found))
	}
	base, err := d.s.check(d.file, d.at)
	if err == nil {
		err = d.s.o.Complete(base)
	}
	if err != nil {
		return d.refuse(err)
	}
	info, err := d.file.Stat()
	if err != nil {
		return fmt.Errorf("look at operating system image: %w", err)
	}
	o := d.e.image
	err = settle(d.file.Name(), d.e.path, record{
		OpenShiftVersion: o.OpenShiftVersion, CPUArchitecture: o.CPUArchitecture, Type: o.Type, Version: o.Version,
		Source: d.part.Source, SHA256: d.sum.String(), Size: d.at, Modified: info.ModTime().UTC(), At: d.s.o.Now().UTC(),
	})
	if err != nil {
		return err
	}
	return remove(d.recordPath())
}

// refuse deletes content that is not the image.
func (d *download) refuse(err error) error {
	return errors.Join(&refusal{err: err, part: d.part}, remove(d.recordPath(), d.file.Name()))
}
