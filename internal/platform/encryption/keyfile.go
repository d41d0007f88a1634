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
)

const keyFileHeader = `# Keys that encrypt the secrets of Slipway. Keep a copy: without them the secrets are lost.
# One key a line, base64. The first encrypts; all decrypt. To rotate, add a new one at the top.
`

// LoadOrCreate reads the keys of the file at path. A missing file is created with one random key, mode 0600,
// atomically: several processes that start at once all use the same key. A file that other users can read is
// refused.
func LoadOrCreate(path string) (*Sealer, error) {
	keys, err := load(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := create(path); err != nil {
			return nil, fmt.Errorf("create key file %s: %w", path, err)
		}
		keys, err = load(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read key file %s: %w", path, err)
	}
	s, err := New(keys[0], keys[1:]...)
	if err != nil {
		return nil, fmt.Errorf("parse key file %s: %w", path, err)
	}
	return s, nil
}

func load(path string) ([][]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); mode&0o007 != 0 {
		return nil, fmt.Errorf("require a file that only its owner reads (mode 0600), found mode %04o", mode)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(data)
}

func parse(data []byte) ([][]byte, error) {
	var keys [][]byte
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		key, err := base64.StdEncoding.DecodeString(string(line))
		if err != nil || len(key) != KeySize {
			return nil, fmt.Errorf("line %d: require %d bytes in base64", n, KeySize)
		}
		keys = append(keys, key)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, errors.New("require at least one key, found none")
	}
	return keys, nil
}

// create writes a new key file, or keeps the one that another process created first. Linking a finished file to
// its name is atomic and, unlike renaming, never replaces a file.
func create(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	key := make([]byte, KeySize)
	_, _ = rand.Read(key) // never fails: the runtime aborts without randomness
	f, err := os.CreateTemp(dir, ".key-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(keyFileHeader + base64.StdEncoding.EncodeToString(key) + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
