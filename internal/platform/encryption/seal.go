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
)

// KeySize is the length of a key in bytes (AES-256).
const KeySize = 32

// A sealed value is: version (1 byte), key id (1 byte), nonce (12 bytes), AES-256-GCM
// ciphertext with its tag (16 bytes). Version and key id are authenticated as well.
const (
	version    = 1
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
	// ErrAuthentication: the value was changed, moved to another place or encrypted with another key of the
	// same id.
	ErrAuthentication = errors.New("sealed value is damaged or belongs elsewhere")
)

// Sealer encrypts with its current key and decrypts with any key it holds. It is safe for concurrent use.
type Sealer struct {
	current byte
	// aeads are the ciphers of each id, which is a byte: of twenty keys, two have the same one more often than not.
	aeads  map[byte][]cipher.AEAD
	source []byte // of derived keys
}

// New returns a sealer that encrypts with key and also decrypts values of the old keys. Keys are KeySize random
// bytes, each given once.
func New(key []byte, old ...[]byte) (*Sealer, error) {
	s := &Sealer{current: keyID(key), aeads: map[byte][]cipher.AEAD{}, source: slices.Clone(key)}
	keys := append([][]byte{key}, old...)
	for n, k := range keys {
		if len(k) != KeySize {
			return nil, fmt.Errorf("require a key of %d bytes, found %d", KeySize, len(k))
		}
		if slices.ContainsFunc(keys[:n], func(other []byte) bool { return bytes.Equal(other, k) }) {
			return nil, errors.New("the same key is given twice")
		}
		aead, err := newAEAD(k)
		if err != nil {
			return nil, err
		}
		s.aeads[keyID(k)] = append(s.aeads[keyID(k)], aead)
	}
	return s, nil
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("prepare AES: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("prepare GCM: %w", err)
	}
	return aead, nil
}

// Header begins every value that this sealer seals: its version, and the id of the current key.
func (s *Sealer) Header() []byte { return []byte{version, s.current} }

// Seal encrypts plain. aad is the place the value belongs to (a table, column and id, or a blob key): Open
// fails when the same bytes are presented for another place.
func (s *Sealer) Seal(plain, aad []byte) []byte {
	out := make([]byte, headerSize+nonceSize, len(plain)+Overhead)
	out[0], out[1] = version, s.current
	_, _ = rand.Read(out[headerSize:]) // never fails: the runtime aborts without randomness
	return s.aeads[s.current][0].Seal(out, out[headerSize:], plain, bind(out[:headerSize], aad))
}

// Open decrypts a sealed value for the place aad. It returns ErrMalformed,
// ErrUnknownKey or ErrAuthentication.
func (s *Sealer) Open(sealed, aad []byte) ([]byte, error) {
	if len(sealed) < Overhead || sealed[0] != version {
		return nil, ErrMalformed
	}
	aeads := s.aeads[sealed[1]]
	if len(aeads) == 0 {
		return nil, fmt.Errorf("key %02x...: %w", sealed[1], ErrUnknownKey)
	}
	for _, aead := range aeads {
		if plain, err := unseal(aead, sealed, aad); err == nil {
			return plain, nil
		}
	}
	return nil, ErrAuthentication
}

func unseal(aead cipher.AEAD, sealed, aad []byte) ([]byte, error) {
	nonce, box := sealed[headerSize:headerSize+nonceSize], sealed[headerSize+nonceSize:]
	return aead.Open(nil, nonce, box, bind(sealed[:headerSize], aad))
}

// Current reports whether sealed was encrypted with the current key for the place aad; if not, it has to be encrypted
// again before the old key is removed.
func (s *Sealer) Current(sealed, aad []byte) bool {
	if len(sealed) < Overhead || sealed[0] != version || sealed[1] != s.current {
		return false
	}
	_, err := unseal(s.aeads[s.current][0], sealed, aad)
	return err == nil
}

func bind(header, aad []byte) []byte {
	return append(append(make([]byte, 0, len(header)+len(aad)), header...), aad...)
}

// Derive returns a key of KeySize bytes for another purpose, derived from the current key (HKDF, RFC 5869): the
// same in every process that holds the key, and useless for decrypting values. It changes when the current key
// changes.
func (s *Sealer) Derive(purpose string) []byte { return derive(s.source, purpose) }

func derive(source []byte, purpose string) []byte {
	key, err := hkdf.Key(sha256.New, source, nil, "slipway "+purpose, KeySize)
	if err != nil {
		panic(err) // only for lengths that SHA-256 cannot give
	}
	return key
}
