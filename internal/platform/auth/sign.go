package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/asn1"
	"fmt"
	"math/big"

	"github.com/golang-jwt/jwt/v5"
)

// es256 is ES256 with deterministic signatures (RFC 6979). The library draws a random number for each
// signature: the config of a host, which holds a token, would differ every time, and images could not be
// resumed or cached.
type es256 struct{ *jwt.SigningMethodECDSA }

// es256Bytes is the length of each half of a signature (RFC 7518, section 3.4).
const es256Bytes = 32

// Sign implements jwt.SigningMethod.
func (m es256) Sign(text string, key any) ([]byte, error) {
	private, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, jwt.ErrInvalidKeyType
	}
	digest := sha256.Sum256([]byte(text))
	der, err := private.Sign(nil, digest[:], crypto.SHA256)
	if err != nil {
		return nil, err
	}
	var halves struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &halves); err != nil {
		return nil, fmt.Errorf("read a signature: %w", err)
	}
	out := make([]byte, 2*es256Bytes)
	halves.R.FillBytes(out[:es256Bytes])
	halves.S.FillBytes(out[es256Bytes:])
	return out, nil
}
