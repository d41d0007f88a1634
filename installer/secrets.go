package installer

import (
	"os"
	"slices"
	"strings"

	"slipway/internal/cluster/pullsecret"
	"slipway/internal/platform/redact"
)

// shortSecret is the minimum length of a secret word, in bytes: shorter ones occur in every text.
const shortSecret = 8

// redactor removes secrets from texts for the service and users: words that are secret, and what has the form of a secret.
type redactor struct{ words *strings.Replacer }

// Replace returns the text without secrets.
func (r redactor) Replace(text string) string { return redact.Lines(r.words.Replace(text)) }

// redactor returns the redactor of this host's words: its token, and the credentials of the pull secret, which programs repeat when they
// fail.
func (i *Installer) redactor() redactor {
	var secrets []string
	add := func(secret string) {
		if len(secret) >= shortSecret {
			secrets = append(secrets, secret)
		}
	}
	add(i.Client.Token().Reveal())
	if content, err := os.ReadFile(i.Root.Path(registryAuth)); err == nil { // no pull secret opens nothing
		for _, word := range pullsecret.Words(string(content)) {
			add(word)
		}
	}
	// The longest first: of one that begins with another nothing may be left.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, secret := range secrets {
		pairs = append(pairs, secret, redact.Mark)
	}
	return redactor{strings.NewReplacer(pairs...)}
}
