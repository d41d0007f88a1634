package encryption

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const keyFileHeader = `# Keys that encrypt the secrets of Slipway. Keep a copy: without them the secrets are lost.
# One key a line, base64. The first encrypts, with a key for each kind of values where "kinds:" stands before it; all decrypt.
# slipway keys rotate puts a new one at the top.
`

var (
	// ErrNoKeyFile: there is no file of keys.
	ErrNoKeyFile = errors.New("no key file")
	// ErrKeyInUse: a key cannot be removed, as it encrypts.
	ErrKeyInUse = errors.New("key encrypts")
)

// File is a file of keys, in clear or sealed by a key service.
type File struct {
	Path string
	// Service seals what is written, and opens what is read; nil: the file is in clear.
	Service Service
}

// Read returns the keys of the file, the key that encrypts first. A file that other users can read is refused; without a file it is an
// ErrNoKeyFile.
func (f File) Read() ([]Key, error) {
	content, err := read(f.Path)
	if err != nil {
		return nil, err
	}
	_, keys, err := f.parse(content)
	return keys, err
}

// parse returns the lines of the file, and their keys.
func (f File) parse(content []byte) (lines []byte, keys []Key, err error) {
	if lines, err = f.unseal(content); err == nil {
		keys, err = parse(lines)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read key file %s: %w", f.Path, err)
	}
	return lines, keys, nil
}

func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read key file %s: %w", path, ErrNoKeyFile)
	}
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o007 != 0 {
		return nil, fmt.Errorf("read key file %s: require a file that only its owner reads (mode 0600), found mode %04o", path, mode)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	return data, nil
}

func parse(data []byte) ([]Key, error) {
	var keys []Key
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		text, kinds := strings.CutPrefix(string(line), kindsPrefix)
		key, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(key) != KeySize {
			return nil, fmt.Errorf("line %d: require %d bytes in base64", n, KeySize)
		}
		keys = append(keys, Key{bytes: key, kinds: kinds})
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, errors.New("at least one key is required")
	}
	return keys, nil
}

// create writes a new key file, or keeps the file that another process created first. Linking a finished file
// to its name is atomic and, unlike renaming, never replaces a file.
func (f File) create() error {
	dir := filepath.Dir(f.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	content, err := f.seal([]byte(keyFileHeader + newKey().line()))
	if err != nil {
		return err
	}
	made, err := os.CreateTemp(dir, ".key-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(made.Name()) }()
	_, err = made.Write(content)
	if err := errors.Join(err, made.Sync(), made.Close()); err != nil {
		return err
	}
	if err := os.Link(made.Name(), f.Path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(dir)
}

func newKey() Key {
	key := make([]byte, KeySize)
	_, _ = rand.Read(key) // never fails: the runtime aborts without randomness
	return Key{bytes: key, kinds: true}
}

// AddKey puts a new key at the top of the file, from where it encrypts, and returns it. Whoever reads the file meanwhile finds the
// old content or the new one; owner and mode stay.
func (f File) AddKey() (Key, error) {
	var added Key
	err := f.change(f.seal, func(data []byte, keys []Key) ([]byte, error) {
		for added = newKey(); slices.ContainsFunc(keys, func(k Key) bool { return k.number() == added.number() }); {
			added = newKey() // values hold one byte of the id only
		}
		first := slices.IndexFunc(bytes.SplitAfter(data, []byte("\n")), isKey)
		lines := bytes.SplitAfter(data, []byte("\n"))
		return bytes.Join(slices.Insert(lines, first, []byte(added.line())), nil), nil
	})
	return added, err
}

// RemoveKey removes the key with that id from the file. Values that it encrypted cannot be decrypted after that.
func (f File) RemoveKey(id string) error {
	return f.change(f.seal, func(data []byte, keys []Key) ([]byte, error) {
		n := slices.IndexFunc(keys, func(k Key) bool { return k.ID() == id })
		switch {
		case n < 0:
			return nil, fmt.Errorf("require the id of a key of %s, found %q", f.Path, id)
		case n == 0:
			return nil, fmt.Errorf("remove key %s: %w: require one that another has replaced", id, ErrKeyInUse)
		}
		return bytes.ReplaceAll(data, []byte(keys[n].line()), nil), nil
	})
}

func isKey(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 0 && line[0] != '#'
}

// change replaces the lines of the file by the lines that fn returns, sealed. Two that change it at once do so one after the other.
func (f File) change(seal func([]byte) ([]byte, error), fn func(data []byte, keys []Key) ([]byte, error)) error {
	path, err := filepath.EvalSymlinks(f.Path)
	if err != nil {
		return fmt.Errorf("find key file: %w", err)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("open the folder of the key file: %w", err)
	}
	defer func() { _ = dir.Close() }()
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock the folder of the key file: %w", err)
	}
	content, err := read(path)
	if err != nil {
		return err
	}
	data, keys, err := f.parse(content)
	if err != nil {
		return err
	}
	if data[len(data)-1] != '\n' {
		data = append(data, '\n')
	}
	if data, err = fn(data, keys); err != nil {
		return err
	}
	if content, err = seal(data); err != nil {
		return fmt.Errorf("write key file: %w", err)
	}
	if err := replace(path, content); err != nil {
		return fmt.Errorf("write key file: %w", err)
	}
	return nil
}

// replace gives a file another content, and leaves it its owner and mode.
func replace(path string, data []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".key-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		err = f.Chown(int(owner.Uid), int(owner.Gid))
	}
	err = errors.Join(err, f.Chmod(info.Mode().Perm()))
	_, written := f.Write(data)
	if err := errors.Join(err, written, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
