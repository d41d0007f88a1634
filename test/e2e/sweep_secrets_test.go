package e2e_test

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
)

// secrets are texts that are looked for, by kind.
type secrets []struct {
	kind  string
	forms [][]byte
}

// plant makes a secret; nothing else looks like it.
func (s *secrets) plant(kind string) string {
	text := "Canary" + rand.Text()
	s.add(kind, text)
	return text
}

// add looks for a secret from now on.
func (s *secrets) add(kind, text string) {
	*s = append(*s, struct {
		kind  string
		forms [][]byte
	}{kind, forms(text)})
}

func (s *secrets) kinds() (kinds []string) {
	for _, one := range *s {
		if !slices.Contains(kinds, one.kind) {
			kinds = append(kinds, one.kind)
		}
	}
	return kinds
}

// forms of a secret: in clear, in UTF-16, in hex, in base64, and in base64 of base64, as the pull secret's in the file of a Kubernetes
// Secret.
func forms(text string) [][]byte {
	all := [][]byte{[]byte(text), fmt.Appendf(nil, "%x", text), fmt.Appendf(nil, "%X", text)}
	var little, big []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		little, big = binary.LittleEndian.AppendUint16(little, unit), binary.BigEndian.AppendUint16(big, unit)
	}
	all = append(all, little, big)
	for _, once := range encoded(text) {
		all = append(all, once)
		all = append(all, encoded(string(once))...)
	}
	return all
}

// encoded returns a text in both alphabets of base64, wherever it begins in another text.
func encoded(text string) (all [][]byte) {
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			whole := encoding.EncodeToString([]byte(strings.Repeat(" ", before) + text))
			// The first characters depend on what is before, the last on what follows.
			all = append(all, []byte(whole[(before*8+5)/6:len(whole)-1]))
		}
	}
	return all
}

// in lists the kinds that a text has.
func (s *secrets) in(text []byte) (kinds []string) {
	content := string(text)
	for _, one := range *s {
		if slices.ContainsFunc(one.forms, func(form []byte) bool { return strings.Contains(content, string(form)) }) {
			kinds = append(kinds, one.kind)
		}
	}
	return kinds
}

// signature returns the part of a signed token that nothing but the token has; another token is returned whole.
func signature(token string) string {
	token = strings.TrimPrefix(token, "Bearer ")
	if parts := strings.Split(token, "."); len(parts) == 3 {
		return parts[2][:32]
	}
	return token
}

// addKey looks for the middle of a private key, as PEM wraps it and as bytes.
func (s *secrets) addKey(t *testing.T, kind string, text []byte) {
	t.Helper()
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return
		}
		if strings.HasSuffix(block.Type, "PRIVATE KEY") {
			require.Greater(t, len(block.Bytes), 40, kind)
			s.add(kind, string(block.Bytes[36:60])) // within the number that is secret, of each kind of key here
			encoded := string(pem.EncodeToMemory(block))
			s.add(kind, strings.Split(encoded, "\n")[1][44:])
		}
	}
}
