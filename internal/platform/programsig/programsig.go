// Package programsig signs the programs that agents become, and verifies the signatures. The keys are Ed25519 (RFC 8032).
package programsig

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// SeedSize is the length of the secret that a key is made of.
const SeedSize = ed25519.SeedSize

// ErrNotSigned: no signature of a program is by the key that the host was given.
var ErrNotSigned = errors.New("the program is not signed for this host")

// Change names what a signature permits: one host, in one boot, becomes one program. A signature that was recorded is of no use to
// another host, in another boot, or to an agent of another version.
type Change struct {
	HostID, Boot string
	// From and To are versions of the agent.
	From, To     string
	Architecture string
	SHA256       string // hex
}

// message returns the bytes that are signed. No part has line breaks: each stands in one place.
func (c Change) message() ([]byte, error) {
	parts := []string{"slipway agent program 1", c.HostID, c.Boot, c.From, c.To, c.Architecture, c.SHA256}
	for _, part := range parts {
		if part == "" || strings.ContainsAny(part, "\r\n") {
			return nil, fmt.Errorf("%w: require a host, its boot, two versions, an architecture and a hash, each of one line, found %q",
				ErrNotSigned, parts[1:])
		}
	}
	return []byte(strings.Join(parts, "\n")), nil
}

// Signer signs with each of its keys. The zero value has none.
type Signer struct {
	// Seeds returns the secrets of the keys, SeedSize bytes each, the newest first.
	Seeds func() [][]byte
}

// PublicKey returns the newest key in base64; empty without keys.
func (s Signer) PublicKey() string {
	if s.Seeds == nil {
		return ""
	}
	for _, seed := range s.Seeds() {
		key, _ := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
		return base64.StdEncoding.EncodeToString(key)
	}
	return ""
}

// Sign returns a signature by each key, in base64: hosts know the key that was the newest when their image was made.
func (s Signer) Sign(c Change) ([]string, error) {
	if s.Seeds == nil {
		return nil, nil
	}
	message, err := c.message()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, seed := range s.Seeds() {
		out = append(out, base64.StdEncoding.EncodeToString(ed25519.Sign(ed25519.NewKeyFromSeed(seed), message)))
	}
	return out, nil
}

// PublicKey verifies signatures.
type PublicKey struct{ key ed25519.PublicKey }

// ParsePublicKey reads a key in base64. An empty text is a key that is not Known.
func ParsePublicKey(text string) (PublicKey, error) {
	if text == "" {
		return PublicKey{}, nil
	}
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return PublicKey{}, fmt.Errorf("require a key of %d bytes in base64, found %q", ed25519.PublicKeySize, text)
	}
	return PublicKey{key}, nil
}

// Known reports whether there is a key.
func (k PublicKey) Known() bool { return len(k.key) > 0 }

// Verify returns an ErrNotSigned unless one of the signatures is of the change and by the key.
func (k PublicKey) Verify(c Change, signatures []string) error {
	message, err := c.message()
	if err != nil {
		return err
	}
	for _, text := range signatures {
		signature, err := base64.StdEncoding.DecodeString(text)
		if err == nil && k.Known() && ed25519.Verify(k.key, message, signature) {
			return nil
		}
	}
	return fmt.Errorf("%w: require a signature by the key of its image of %s for the change from %s to %s in this boot, found %d others",
		ErrNotSigned, c.SHA256, c.From, c.To, len(signatures))
}
