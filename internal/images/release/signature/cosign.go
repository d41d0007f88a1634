package signature

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"

	"slipway/internal/model"
)

// leastRSABits is the shortest key of RSA that is accepted.
const leastRSABits = 2048

// CosignKey is a public key of cosign.
type CosignKey struct {
	public crypto.PublicKey
	id     string // SHA-256 of its DER form
}

// ParseCosignKeys reads public keys in PEM, of ECDSA or RSA.
func ParseCosignKeys(data []byte) (keys []CosignKey, err error) {
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}
		if block.Type != "PUBLIC KEY" {
			return nil, model.Invalidf("require PEM blocks of type PUBLIC KEY, found %s", block.Type)
		}
		public, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, model.Invalidf("read a public key: %s", err)
		}
		switch key := public.(type) {
		case *ecdsa.PublicKey:
		case *rsa.PublicKey:
			if bits := key.N.BitLen(); bits < leastRSABits {
				return nil, model.Invalidf("require a public key of RSA with at least %d bits, found %d", leastRSABits, bits)
			}
		default:
			return nil, model.Invalidf("require a public key of ECDSA or RSA, found %T", public)
		}
		keys = append(keys, CosignKey{public: public, id: fmt.Sprintf("%x", sha256.Sum256(block.Bytes))})
	}
	if len(keys) == 0 {
		return nil, model.Invalidf("require public keys in PEM, found none")
	}
	return keys, nil
}

func (k CosignKey) signed(payload, signature []byte) bool {
	sum := sha256.Sum256(payload)
	switch key := k.public.(type) {
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(key, sum[:], signature)
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) == nil
	}
	return false
}

// checkCosign returns who signed an image by a signature of cosign.
func checkCosign(a Attached, digest string, keys []CosignKey) (by string, err error) {
	raw, err := base64.StdEncoding.DecodeString(a.Signature)
	if err != nil {
		return "", fmt.Errorf("require a signature in base64: %w", err)
	}
	for _, k := range keys {
		if !k.signed(a.Payload, raw) {
			continue
		}
		// Only now: nothing of a payload without a good signature is read.
		if err := checkStatement(a.Payload, typeCosign, digest); err != nil {
			return "", err
		}
		return "cosign key " + k.id, nil
	}
	return "", errors.New("it is not by a key of --release-cosign-keys")
}
