// Package container is the process that a container of the bench lives in: it sees the
// host's files with the container's mounts over them, and keeps what the program says and
// how it ends. It needs no other process: the runtime that began it may be restarted meanwhile.
package container

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Names of the files in the folder of a container.
const (
	specFile = "spec.json"
	exitFile = "exit.json"
	// LockFile is locked for as long as the process is there.
	LockFile = "lock"
)

// lockDescriptor is where the process finds the open LockFile.
const lockDescriptor = 3

// Spec is the command of a container, with its settings.
type Spec struct {
	Command []string
	Env     []string
	Dir     string // where it begins; empty for /
	User    *User  // nil for root
	Mounts  []Mount
	Log     string // file in the CRI's log format; empty for none
}

// User is whom the program runs as.
type User struct{ UID, GID uint32 }

// Mount is a file or folder of the host that the container has at another place.
type Mount struct {
	Host, Container string
	ReadOnly        bool
}

// Exit is how a container ended.
type Exit struct {
	Code     int32
	Finished time.Time
	Reason   string // as kubectl shows it: Completed, Error, StartError
	Message  string
}

// Exited returns the end of a program with a code.
func Exited(code int32, at time.Time) Exit {
	if code == 0 {
		return Exit{Finished: at, Reason: "Completed"}
	}
	return Exit{Code: code, Finished: at, Reason: "Error"}
}

// WriteSpec leaves in a container's folder what Run is to run.
func WriteSpec(dir string, spec Spec) error { return WriteFile(filepath.Join(dir, specFile), spec) }

// WriteExit leaves in a container's folder how it ended.
func WriteExit(dir string, exit Exit) error { return WriteFile(filepath.Join(dir, exitFile), exit) }

// ReadExit returns how a container ended; fs.ErrNotExist means that its end was not seen.
func ReadExit(dir string) (Exit, error) {
	var exit Exit
	return exit, ReadFile(filepath.Join(dir, exitFile), &exit)
}

// WriteFile writes a value so that a power cut leaves the old content or the new one.
func WriteFile(path string, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	defer f.Close()
	defer os.Remove(f.Name()) //nolint:errcheck // it has another name by then, or is one of a folder that is removed
	if _, err := f.Write(content); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// ReadFile reads what WriteFile wrote.
func ReadFile(path string, value any) error {
	content, err := os.ReadFile(path) //nolint:gosec // of the runtime's own folder
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, value); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}
