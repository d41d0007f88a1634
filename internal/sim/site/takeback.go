package site

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const takeBackFile = "take-back"

// TakeBack lets the installed machines of the site run the agent that reclaims them, as
// a daemon set in their cluster does; off ends it.
func (s *Site) TakeBack(on bool) error {
	if on {
		return s.writeText(takeBackFile, "")
	}
	err := os.Remove(filepath.Join(s.dir, takeBackFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// TakesBack is what TakeBack said last.
func (s *Site) TakesBack() bool {
	_, err := os.Stat(filepath.Join(s.dir, takeBackFile))
	return err == nil
}
