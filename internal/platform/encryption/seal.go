// Package encryption encrypts values that must not be readable in the database or the blob store: pull secrets,
// tokens, kubeconfigs. The key is stored in a file outside both.
package encryption

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// KeySize is the length of a key in bytes (AES-256).
const KeySize = 32

// A sealed value is: version (1 byte), key id (1 byte), nonce (12 bytes), AES-256-GCM
// ciphertext with its tag (16 bytes). Version and key id are authenticated as well.
const (
	versionDirect = 1 // encrypted with the key itself
	versionKinds  = 2 // encrypted with a key that is derived from it for values of one kind

	headerSize = 2
	nonceSize  = 12
	tagSize    = 16
)

// Overhead is the number of bytes by which an encrypted value is longer than the plain one.
const Overhead = headerSize + nonceSize + tagSize

var (
	// ErrMalformed: the bytes are not an encrypted value.
	ErrMalformed = errors.New("not a sealed value")
	// ErrUnknownKey: the value was encrypted with a key that this sealer does not hold.
	ErrUnknownKey = errors.New("sealed with an unknown key")
	// ErrAuthentication: the value was changed, moved to another place, is of another kind, or was encrypted with another key of the
	// same id.
	ErrAuthentication = errors.New("sealed value is damaged or belongs elsewhere")
)

// Sealer encrypts with its current key and decrypts with any key it holds. It is safe for concurrent use.
type Sealer struct {
	current *ciphers
	// known are the keys of each id, which is a byte: of twenty keys, two have the same one more often than not.
	known map[byte][]*ciphers
}

// ciphers are the ciphers of one key.
type ciphers struct {
	key    Key
	direct cipher.AEAD
	kinds  sync.Map // of kinds of values: cipher.AEAD
}

// New returns a sealer that encrypts with keys which are derived from key, and also decrypts values of the old keys. Keys are KeySize
// random bytes, each given once.
func New(key []byte, old ...[]byte) (*Sealer, error) {
	keys := []Key{{bytes: key, kinds: true}}
	for _, k := range old {
		keys = append(keys, Key{bytes: k, kinds: true})
	}
	return newSealer(keys)
}

func newSealer(keys []Key) (*Sealer, error) {
	s := &Sealer{known: map[byte][]*ciphers{}}
	for n, k := range keys {
		if len(k.bytes) != KeySize {
			return nil, fmt.Errorf("require a key of %d bytes, found %d", KeySize, len(k.bytes))
		}
		if slices.ContainsFunc(keys[:n], func(other Key) bool { return bytes.Equal(other.bytes, k.bytes) }) {
			return nil, errors.New("the same key is given twice")
		}
		made := &ciphers{key: k, direct: newAEAD(k.bytes)}
		s.known[k.number()] = append(s.known[k.number()], made)
		if n == 0 {
			s.current = made
		}
	}
	return s, nil
}

// newAEAD returns the cipher of a key of KeySize bytes.
func newAEAD(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // only for keys of another length
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // only for ciphers that are not AES
	}
	return aead
}

// of returns the cipher for values of one kind that begin with a version.
func (c *ciphers) of(version byte, kind string) cipher.AEAD {
	if version == versionDirect {
		return c.direct
	}
	if known, ok := c.kinds.Load(kind); ok {
		return known.(cipher.AEAD) //nolint:forcetypeassert // it holds nothing else
	}
	made := newAEAD(derive(c.key.bytes, "kind "+kind))
	c.kinds.Store(kind, made)
	return made
}

// Header begins every value that this sealer seals: its version, and the id of the current key.
func (s *Sealer) Header() []byte { return s.current.key.Header() }

// Seal encrypts plain. The kind of a value (a table, files, sessions) decides about its key. aad is the place the value belongs to (an id,
// or a blob key): Open fails when the same bytes are presented for another kind or place.
func (s *Sealer) Seal(kind string, plain, aad []byte) []byte {
	out := make([]byte, headerSize+nonceSize, len(plain)+Overhead)
	copy(out, s.Header())
	_, _ = rand.Read(out[headerSize:]) // never fails: the runtime aborts without randomness
	return s.current.of(out[0], kind).Seal(out, out[headerSize:], plain, bind(out[:headerSize], aad))
}

// Open decrypts a sealed value of a kind for the place aad. It returns ErrMalformed,
// ErrUnknownKey or ErrAuthentication.
func (s *Sealer) Open(kind string, sealed, aad []byte) ([]byte, error) {
	if len(sealed) < Overhead || sealed[0] != versionDirect && sealed[0] != versionKinds {
		return nil, ErrMalformed
	}
	known := s.known[sealed[1]]
	if len(known) == 0 {
		return nil, fmt.Errorf("key %02x...: %w", sealed[1], ErrUnknownKey)
	}
	for _, c := range known {
		if plain, err := unseal(c.of(sealed[0], kind), sealed, aad); err == nil {
			return plain, nil
		}
	}
	return nil, ErrAuthentication
}

func unseal(aead cipher.AEAD, sealed, aad []byte) ([]byte, error) {
	nonce, box := sealed[headerSize:headerSize+nonceSize], sealed[headerSize+nonceSize:]
	return aead.Open(nil, nonce, box, bind(sealed[:headerSize], aad))
}

// Current reports whether sealed was encrypted with the current key for a kind and the place aad; if not, it has to be encrypted
// again before the old key is removed.
func (s *Sealer) Current(kind string, sealed, aad []byte) bool {
	if len(sealed) < Overhead || !bytes.HasPrefix(sealed, s.Header()) {
		return false
	}
	_, err := unseal(s.current.of(sealed[0], kind), sealed, aad)
	return err == nil
}

func bind(header, aad []byte) []byte {
	return append(append(make([]byte, 0, len(header)+len(aad)), header...), aad...)
}

// Derive returns a key of KeySize bytes for another purpose, derived from the current key (HKDF, RFC 5869): the
// same in every process that holds the key, and useless for decrypting values. It changes when the current key
// changes.
func (s *Sealer) Derive(purpose string) []byte { return derive(s.current.key.bytes, purpose) }

func derive(source []byte, purpose string) []byte {
	key, err := hkdf.Key(sha256.New, source, nil, "slipway "+purpose, KeySize)
	if err != nil {
		panic(err) // only for lengths that SHA-256 cannot give
	}
	return key
}
