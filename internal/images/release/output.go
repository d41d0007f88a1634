package release

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync"

	"slipway/internal/cluster/pullsecret"
)

// maxLog bounds the kept output of an installer, in bytes; lastLines bounds the part of it in an error.
const (
	maxLog    = 1 << 20
	lastLines = 5
)

// tail keeps the last part of what is written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
	cut  bool
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if len(t.data) > 2*maxLog {
		t.data = append(t.data[:0], t.data[len(t.data)-maxLog:]...)
		t.cut = true
	}
	return len(p), nil
}

// String returns the kept text, from the beginning of a line on: a cut line could begin with a part of a
// secret.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.data)
	if !t.cut {
		return text
	}
	_, rest, _ := strings.Cut(text, "\n")
	return "...\n" + rest
}

// lastWords returns the last lines of a log.
func lastWords(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	return strings.Join(lines[max(0, len(lines)-lastLines):], "\n")
}

// mask replaces secrets in texts.
type mask []string

// newMask masks a pull secret in every form a program could print it in.
func newMask(text string) mask {
	m := mask{}.with(text)
	for _, word := range pullsecret.Words(text) {
		m = m.with(word)
	}
	return m
}

// with adds a secret, also as quoted text and in base64. Very short ones are left out: they would mask half a
// log and protect nothing.
func (m mask) with(secret string) mask {
	const shortest = 6
	if len(secret) < shortest {
		return m
	}
	quoted := fmt.Sprintf("%q", secret)
	return append(slices.Clone(m), secret, quoted[1:len(quoted)-1], base64.StdEncoding.EncodeToString([]byte(secret)))
}

// text returns a text without the secrets.
func (m mask) text(text string) string {
	secrets := slices.Clone(m)
	// The longest first, or a part of one would be masked and the rest stay.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	for _, s := range secrets {
		text = strings.ReplaceAll(text, s, "[redacted]")
	}
	return text
}
