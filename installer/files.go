package installer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// writeFile replaces a file of the host in one piece, with its folders. It is not synced:
// the live image keeps its files in memory, and a step that was cut off is done again.
func (i *Installer) writeFile(name string, content []byte, mode fs.FileMode) error {
	if err := replace(i.Root.Path(name), content, mode); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func replace(place string, content []byte, mode fs.FileMode) (err error) {
	if err := os.MkdirAll(filepath.Dir(place), defaultDirMode); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(place), ".slipway-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	_, err = file.Write(content)
	if err = errors.Join(err, file.Chmod(mode), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), place)
}

// privateDir makes a folder that only root may look into, and keeps one so that is there.
func (i *Installer) privateDir(name string) error {
	place := i.Root.Path(name)
	if err := errors.Join(os.MkdirAll(place, 0o700), os.Chmod(place, 0o700)); err != nil {
		return fmt.Errorf("make the folder %s: %w", name, err)
	}
	return nil
}

// exists reports whether the host has a file of that name.
func (i *Installer) exists(name string) bool {
	_, err := os.Stat(i.Root.Path(name))
	return err == nil
}
