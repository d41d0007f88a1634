package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"slipway/internal/model"
)

// keyPair signs and verifies tokens (ES256, RFC 7518 section 3.4); private is nil where another service signs.
type keyPair struct {
	private *ecdsa.PrivateKey
	public  *ecdsa.PublicKey
}

// readKeys parses keys in PEM, or in base64 of PEM as the agent-based installer writes them. The private key is
// optional.
func readKeys(private model.Secret, public string) (keyPair, error) {
	var keys keyPair
	var err error
	if keys.public, err = jwt.ParseECPublicKeyFromPEM(pemText(public)); err != nil {
		return keys, fmt.Errorf("EC_PUBLIC_KEY_PEM: require a public key of an elliptic curve in PEM: %w", err)
	}
	if keys.public.Curve != elliptic.P256() {
		return keys, fmt.Errorf("EC_PUBLIC_KEY_PEM: require curve P-256, found %s", keys.public.Curve.Params().Name)
	}
	if private == "" {
		return keys, nil
	}
	if keys.private, err = jwt.ParseECPrivateKeyFromPEM(pemText(private.Reveal())); err != nil {
		// The parser's error may quote the key.
		return keys, fmt.Errorf("EC_PRIVATE_KEY_PEM: must be a private key of an elliptic curve in PEM")
	}
	if !keys.private.PublicKey.Equal(keys.public) {
		return keys, fmt.Errorf("EC_PRIVATE_KEY_PEM does not belong to EC_PUBLIC_KEY_PEM")
	}
	return keys, nil
}

// Fingerprint returns the SHA-256 of a public key (PKIX, DER) in hex. The key is PEM or base64 of it.
func Fingerprint(public string) (string, error) {
	keys, err := readKeys("", public)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalPKIXPublicKey(keys.public)
	if err != nil {
		return "", fmt.Errorf("encode the public key: %w", err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(der)), nil
}

// pemText returns the first key of a text. openssl ecparam writes the name of the curve before the key, which
// contains it too.
func pemText(text string) []byte {
	if plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text)); err == nil {
		text = string(plain)
	}
	for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "EC PARAMETERS" {
			return pem.EncodeToMemory(block)
		}
	}
	return []byte(text)
}
