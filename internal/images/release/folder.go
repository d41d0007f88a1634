package release

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// folder is the installer's folder, which may belong to another user than this process. What that user puts there is
// never followed to the outside, waited for or taken from somebody else.
type folder struct {
	root *os.Root
	user *User
}

func openFolder(dir string, user *User) (*folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &folder{root, user}, nil
}

func (f *folder) close() { _ = f.root.Close() }

// write puts a file there, in the place of one that has the name.
func (f *folder) write(name string, data []byte) error {
	if dir := path.Dir(name); dir != "." {
		err := f.root.Mkdir(dir, 0o700)
		if err == nil && f.user != nil {
			err = f.root.Lchown(dir, int(f.user.UID), int(f.user.GID))
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := f.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil && f.user != nil {
		err = file.Chown(int(f.user.UID), int(f.user.GID))
	}
	return errors.Join(err, file.Close())
}

// read returns a file, of at most maxOutput bytes.
func (f *folder) read(name string) ([]byte, error) {
	// Without waiting: the name can be a pipe's.
	file, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("require a file, found %s", info.Mode().Type())
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && f.user != nil && owner.Uid != f.user.UID {
		return nil, fmt.Errorf("require a file of user %d, found user %d", f.user.UID, owner.Uid)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxOutput+1))
	if err == nil && len(data) > maxOutput {
		err = fmt.Errorf("longer than %d bytes", maxOutput)
	}
	return data, err
}

// glob lists the files of a pattern.
func (f *folder) glob(pattern string) ([]string, error) { return fs.Glob(f.root.FS(), pattern) }

func (f *folder) remove(name string) error { return f.root.Remove(name) }
