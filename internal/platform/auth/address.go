package auth

import (
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
)

// Addresses signs addresses that open exactly one file for a limited time, without other credentials: presigned
// URLs in the terms of object stores.
type Addresses struct {
	Key []byte // 32 random bytes, the same in every process of the service
	Now func() time.Time
}

// Sign returns the signature of an address that is valid until expires. It names the token of the user who asked for the address;
// uuid.Nil: none.
func (a Addresses) Sign(address string, token uuid.UUID, expires time.Time) (string, error) {
	signed := jwt.RegisteredClaims{Subject: address, ExpiresAt: jwt.NewNumericDate(expires)}
	if token != uuid.Nil {
		signed.ID = token.String()
	}
	text, err := jwt.NewWithClaims(jwt.SigningMethodHS256, signed).SignedString(a.Key)
	if err != nil {
		return "", fmt.Errorf("sign an address: %w", err)
	}
	return text, nil
}

// Verify returns when an address ends and the token that Sign was given, or an ErrRefused for a signature that does not belong to it or
// has expired.
func (a Addresses) Verify(address, signature string) (expires time.Time, token uuid.UUID, err error) {
	var signed jwt.RegisteredClaims
	_, err = jwt.ParseWithClaims(signature, &signed, func(*jwt.Token) (any, error) { return a.Key, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithTimeFunc(a.Now),
		jwt.WithExpirationRequired(), jwt.WithSubject(address))
	if err == nil && signed.ID != "" {
		token, err = uuid.Parse(signed.ID)
	}
	if err != nil {
		return time.Time{}, uuid.Nil, Refusedf("require a signature of this address: %s", plain(err))
	}
	return signed.ExpiresAt.Time, token, nil
}
