package auth

import (
	"crypto/sha256"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"slipway/internal/platform/lru"
)

const (
	// verifiedTokens is how many tokens are remembered: of 10,000 hosts, their InfraEnvs and users.
	verifiedTokens = 20_000
	// verifiedSize is about what one takes, in bytes.
	verifiedSize = 1 << 10
)

// verified remembers the claims of tokens whose signature was verified, by the digest of the whole token: agents poll with the same one
// for a day, and a signature takes most of the time of a poll. Everything else is checked at each use.
type verified struct {
	known *lru.Cache[[sha256.Size]byte, claims]
}

func newVerified() verified {
	return verified{lru.New[[sha256.Size]byte, claims](verifiedTokens, verifiedTokens*verifiedSize)}
}

// claims returns the claims of a token that was verified before, and is valid now.
func (v verified) claims(token string, now func() time.Time) (c claims, known bool) {
	c, known = v.known.Get(sha256.Sum256([]byte(token)))
	return c, known && jwt.NewValidator(jwt.WithTimeFunc(now)).Validate(c) == nil
}

func (v verified) remember(token string, c claims) {
	v.known.Put(sha256.Sum256([]byte(token)), c, verifiedSize)
}
