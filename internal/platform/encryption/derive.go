package encryption

import (
	"crypto/hkdf"
	"crypto/sha256"
)

// Derive returns a key of KeySize bytes for another purpose, derived from the current key (HKDF, RFC 5869): the
// same in every process that holds the key, and useless for decrypting values. It changes when the current key
// changes.
func (s *Sealer) Derive(purpose string) []byte {
	key, err := hkdf.Key(sha256.New, s.source, nil, "slipway "+purpose, KeySize)
	if err != nil {
		panic(err) // only for lengths that SHA-256 cannot give
	}
	return key
}
