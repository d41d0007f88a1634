package postgres

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"slipway/internal/platform/filelock"
)

// maxSocketPath is the length that fits in sun_path of a unix socket address, see unix(7).
const maxSocketPath = 107

// socketName is the name PostgreSQL gives the socket of a server with the port in settings.
const socketName = ".s.PGSQL.5432"

// socketFolder has the socket, in the folder of the service.
const socketFolder = "run"

// ErrFolderHeld is returned when another process uses the data folder.
var ErrFolderHeld = errors.New("data folder is held by another process")

// folder is the data folder of a bundled PostgreSQL and the lock on it.
type folder struct {
	root   string
	socket string // folder of the unix socket
	data   string // the cluster, PGDATA
	lock   *filelock.Lock
}

// openFolder creates the data folder if it is missing and locks it until close is called or the process ends,
// for whatever reason.
func openFolder(root string, owner account) (*folder, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("find data folder: %w", err)
	}
	if err := os.MkdirAll(root, 0o711); err != nil {
		return nil, fmt.Errorf("create data folder: %w", err)
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, fmt.Errorf("find data folder: %w", err)
	}
	f := newFolder(root)
	if err := f.fits(); err != nil {
		return nil, err
	}
	if err := f.acquire(); err != nil {
		return nil, err
	}
	if err := f.prepare(owner); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func newFolder(root string) *folder {
	return &folder{root: root, socket: filepath.Join(root, socketFolder), data: filepath.Join(root, "postgres")}
}

// fits returns an error when the path of the socket is too long.
func (f *folder) fits() error {
	if length := len(f.socket) + len("/"+socketName); length > maxSocketPath {
		return fmt.Errorf("data folder path %s is too long: require at most %d characters, because the "+
			"database socket is made in it", f.root, len(f.root)-(length-maxSocketPath))
	}
	return nil
}

// acquire takes the lock. The kernel drops it with the process, so a stale lock cannot exist; the pid inside is
// for the message only. Whoever can open the file can hold the lock: other users of the machine cannot.
func (f *folder) acquire() error {
	path := filepath.Join(f.root, "slipway.lock")
	lock, err := filelock.Try(path, 0o600)
	if err != nil {
		return err
	}
	if lock == nil {
		text, _ := os.ReadFile(path)
		return fmt.Errorf("%w: %s, pid %s", ErrFolderHeld, f.root, strings.TrimSpace(string(text)))
	}
	err = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
	if err == nil {
		err = os.Chmod(path, 0o600) // earlier versions let others read it
	}
	if err != nil {
		lock.Release()
		return fmt.Errorf("write lock file: %w", err)
	}
	f.lock = lock
	return nil
}

// prepare creates the server's folders.
func (f *folder) prepare(owner account) error {
	if owner.switched {
		info, err := os.Stat(f.root)
		if err != nil {
			return fmt.Errorf("read data folder: %w", err)
		}
		// The folder itself is ours to open; those above it are not.
		if err := os.Chmod(f.root, info.Mode().Perm()|0o001); err != nil {
			return fmt.Errorf("open data folder to user %s: %w", owner.name, err)
		}
	}
	if err := owner.canEnter(f.data); err != nil {
		return err
	}
	return owner.own(f.socket)
}

// major returns the PostgreSQL version that made the cluster, or zero when there is none yet.
func (f *folder) major() (int, error) {
	text, err := os.ReadFile(filepath.Join(f.data, "PG_VERSION"))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read version of database: %w", err)
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("read version of database in %s: %w", f.data, err)
	}
	return major, nil
}

func (f *folder) close() { f.lock.Release() }
