package auth

import (
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Addresses signs addresses that open exactly one file for a limited time, without other credentials: presigned
// URLs in the terms of object stores.
type Addresses struct {
	Key []byte // 32 random bytes, the same in every process of the service
	Now func() time.Time
}

// Sign returns the signature of an address that is valid until expires.
func (a Addresses) Sign(address string, expires time.Time) (string, error) {
	text, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
		Subject: address, ExpiresAt: jwt.NewNumericDate(expires),
	}).SignedString(a.Key)
	if err != nil {
		return "", fmt.Errorf("sign an address: %w", err)
	}
	return text, nil
}

// Verify returns when an address ends, or an ErrRefused for a signature that does not belong to it or has expired.
func (a Addresses) Verify(address, signature string) (time.Time, error) {
	var signed jwt.RegisteredClaims
	_, err := jwt.ParseWithClaims(signature, &signed, func(*jwt.Token) (any, error) { return a.Key, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithTimeFunc(a.Now),
		jwt.WithExpirationRequired(), jwt.WithSubject(address))
	if err != nil {
		return time.Time{}, Refusedf("require a signature of this address: %s", plain(err))
	}
	return signed.ExpiresAt.Time, nil
}
