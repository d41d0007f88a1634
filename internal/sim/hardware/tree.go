package hardware

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"slipway/internal/platform/hostexec"
)

// WriteTree writes the files of a running machine below root, which is empty. Content of
// disks is the caller's: openDisk gives the file that plays a disk, and it appears as
// its device by a hard link.
func (s *Spec) WriteTree(root hostexec.Root, bootID string, openDisk func(Disk) (path string, err error)) error {
	files := map[string]string{}
	s.dmi(files)
	s.cpus(files)
	s.memory(files)
	s.disks(files)
	s.nics(files)
	s.system(files, bootID)
	for path, content := range files {
		if err := writeFile(root.Path(path), content); err != nil {
			return err
		}
	}
	for _, d := range s.Disks {
		if err := s.plug(root, d, openDisk); err != nil {
			return fmt.Errorf("plug in disk %s: %w", d.Name, err)
		}
	}
	return nil
}

func writeFile(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o644)
}

// plug makes the device of a disk and its links.
func (s *Spec) plug(root hostexec.Root, d Disk, openDisk func(Disk) (string, error)) error {
	file, err := openDisk(d)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(root.Path("/dev"), 0o755); err != nil {
		return err
	}
	if err := os.Link(file, root.Path("/dev/"+d.Name)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, link := range d.links() {
		path := root.Path(link)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.Symlink("../../"+d.Name, path); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	for _, folder := range []string{"holders", fmt.Sprintf("device/scsi_device/%d:0:0:0", d.port())} {
		if err := os.MkdirAll(root.Path("/sys/block/"+d.Name+"/"+folder), 0o755); err != nil {
			return err
		}
	}
	return nil
}
