package model

import (
	"crypto/sha256"
	"encoding/hex"
)

// KeyName names the key that signs for an InfraEnv without revealing anything about it: 16 hex digits, which its tokens hold.
func KeyName(key Secret) string {
	sum := sha256.Sum256([]byte("slipway image key\x00" + key.Reveal()))
	return hex.EncodeToString(sum[:8])
}
