package encryption

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// Keys seal and open with the keys of a file. The file may change while they are used: Reload reads it again, as does a value
// whose key they do not have. They are safe for concurrent use.
type Keys struct {
	file    File
	held    atomic.Pointer[held]
	reading sync.Mutex
}

// held are the keys of one content of the file.
type held struct {
	*Sealer
	keys    []Key
	content []byte
}

// LoadOrCreate reads the keys of the file. A missing file is created with one random key, mode 0600, atomically: several processes that
// start at once all use the same key. A file that other users can read is refused.
func (f File) LoadOrCreate() (*Keys, error) {
	k := &Keys{file: f}
	_, err := k.Reload()
	if errors.Is(err, ErrNoKeyFile) {
		if err := f.create(); err != nil {
			return nil, fmt.Errorf("create key file %s: %w", f.Path, err)
		}
		_, err = k.Reload()
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

// Reload reads the file again and reports whether it has other keys than before. After an error the keys stay as they were.
func (k *Keys) Reload() (changed bool, err error) {
	k.reading.Lock()
	defer k.reading.Unlock()
	data, err := read(k.file.Path)
	if err != nil {
		return false, err
	}
	if before := k.held.Load(); before != nil && bytes.Equal(before.content, data) {
		return false, nil
	}
	_, keys, err := k.file.parse(data)
	if err != nil {
		return false, err
	}
	sealer, err := newSealer(keys)
	if err != nil {
		return false, fmt.Errorf("parse key file %s: %w", k.file.Path, err)
	}
	k.held.Store(&held{sealer, keys, data})
	return true, nil
}

// Sealed reports whether the file is sealed by a key service.
func (k *Keys) Sealed() bool { return Sealed(k.held.Load().content) }

// Held returns the keys, the key that encrypts first.
func (k *Keys) Held() []Key { return k.held.Load().keys }

// Header begins every value that the current key seals.
func (k *Keys) Header() []byte { return k.Held()[0].Header() }

// Seal works as Sealer.Seal, with the current key of the file.
func (k *Keys) Seal(kind string, plain, aad []byte) []byte {
	return k.held.Load().Seal(kind, plain, aad)
}

// Open works as Sealer.Open. Before it refuses a value it reads the file again: another process may have been given a new
// key a moment earlier.
func (k *Keys) Open(kind string, sealed, aad []byte) ([]byte, error) {
	tried := k.held.Load()
	plain, err := tried.Open(kind, sealed, aad)
	if !errors.Is(err, ErrUnknownKey) && !errors.Is(err, ErrAuthentication) {
		return plain, err
	}
	// Another goroutine may have read the file since: what counts is whether there are other keys than those tried.
	_, failed := k.Reload()
	if now := k.held.Load(); failed == nil && now != tried {
		return now.Open(kind, sealed, aad)
	}
	return nil, errors.Join(err, failed)
}

// Current works as Sealer.Current.
func (k *Keys) Current(kind string, sealed, aad []byte) bool {
	return k.held.Load().Current(kind, sealed, aad)
}

// Derive works as Sealer.Derive.
func (k *Keys) Derive(purpose string) []byte { return k.held.Load().Derive(purpose) }

// DeriveAll works as Derive for every key of the file, the key that encrypts first.
func (k *Keys) DeriveAll(purpose string) [][]byte {
	var all [][]byte
	for _, key := range k.Held() {
		all = append(all, derive(key.bytes, purpose))
	}
	return all
}
