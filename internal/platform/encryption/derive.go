package encryption

import (
	"crypto/hkdf"
	"crypto/sha256"
)

// Derive makes a key of KeySize bytes for another purpose out of the current key (HKDF,
// RFC 5869): the same in every process that holds it, and useless for opening sealed
// values. It changes when the current key does.
func (s *Sealer) Derive(purpose string) []byte {
	key, err := hkdf.Key(sha256.New, s.source, nil, "slipway "+purpose, KeySize)
	if err != nil {
		panic(err) // only for lengths that SHA-256 cannot give
	}
	return key
}
