package encryption

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

// Key is one key of a file.
type Key struct{ bytes []byte }

// ID names the key without revealing anything about it: 8 hex digits, of which values hold the first two.
func (k Key) ID() string {
	sum := keyDigest(k.bytes)
	return hex.EncodeToString(sum[:4])
}

// Header begins the values that the key has sealed.
func (k Key) Header() []byte { return []byte{version, k.number()} }

func (k Key) number() byte { return keyID(k.bytes) }

func (k Key) line() string { return base64.StdEncoding.EncodeToString(k.bytes) + "\n" }

// keyID returns the part of a key's id that values hold.
func keyID(key []byte) byte { return keyDigest(key)[0] }

func keyDigest(key []byte) [sha256.Size]byte {
	return sha256.Sum256(append([]byte("slipway key id\x00"), key...))
}
