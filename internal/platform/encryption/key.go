package encryption

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

// Key is one key of a file.
type Key struct {
	bytes []byte
	// kinds is set where each kind of values is encrypted with a key of its own, which is derived from this one.
	kinds bool
}

// ID names the key without revealing anything about it: 8 hex digits, of which values hold the first two.
func (k Key) ID() string {
	sum := keyDigest(k.bytes)
	return hex.EncodeToString(sum[:4])
}

// Header begins the values that the key seals.
func (k Key) Header() []byte {
	if k.kinds {
		return []byte{versionKinds, k.number()}
	}
	return []byte{versionDirect, k.number()}
}

// Headers begin the values that the key may have sealed.
func (k Key) Headers() [][]byte {
	return [][]byte{{versionDirect, k.number()}, {versionKinds, k.number()}}
}

func (k Key) number() byte { return keyID(k.bytes) }

// kindsPrefix stands before a key in a file that encrypts each kind of values with a key of its own. Versions up to 0.2.0 refuse such a
// file, and write keys without it.
const kindsPrefix = "kinds:"

func (k Key) line() string {
	line := base64.StdEncoding.EncodeToString(k.bytes) + "\n"
	if k.kinds {
		return kindsPrefix + line
	}
	return line
}

// keyID returns the part of a key's id that values hold.
func keyID(key []byte) byte { return keyDigest(key)[0] }

func keyDigest(key []byte) [sha256.Size]byte {
	return sha256.Sum256(append([]byte("slipway key id\x00"), key...))
}
