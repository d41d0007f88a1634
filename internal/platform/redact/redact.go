// Package redact takes secrets out of texts that leave for logs, events and the errors of steps: texts of programs, which may repeat
// what they were given. It looks for the forms in which secrets stand in texts; what has no such form, such as a password in a sentence,
// stays.
package redact

import (
	"encoding/base64"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Mark stands for a secret.
const Mark = "[redacted]"

// words are in the names of values that are secret: of an install-config (bmc.password, pullSecret, vcenters[].password;
// additionalTrustBundle is none) and its overrides, and of network settings (NMState: 802.1x, WireGuard, IPsec).
var words = []string{"password", "passwd", "passphrase", "secret", "token", "credential", "privatekey", "psk", "presharedkey"}

// Name reports whether the value of this name is secret.
func Name(name string) bool {
	name = strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name))
	for _, word := range words {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// Value replaces the value of an argument NAME=VALUE: passwords are in values, under any name.
func Value(argument string) string {
	name, value, found := strings.Cut(argument, "=")
	if !found || value == "" {
		return argument
	}
	return name + "=" + Mark
}

// named matches names whose last word is secret: the text "token_id=3" has no secret, unlike an object with that name.
const named = `[\w.-]*(?:` + word + `)`

const word = `password(?:[_-]?hash)?|passwd|passphrase|secret(?:[_-]?access)?(?:[_-]?key)?|token|credentials?|private[_-]?key|` +
	`client-key-data|psk|pre-?shared-?key`

// rule replaces what a form has in its groups; no groups: all of it.
type rule struct {
	// need is a text that every match has, in any case: most texts of any other form are left at once.
	need string
	form *regexp.Regexp
	// secret confirms that a text of the group is one; nil: always.
	secret func(text string) bool
}

var rules = []rule{
	// A private key ends at its END; the part of a cut one at the end of the text. A key whose beginning was cut has long lines.
	{need: `private key`, form: regexp.MustCompile(`(?s)-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(.*?)(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)`)},
	{need: `private key`, form: regexp.MustCompile(`((?:[A-Za-z0-9+/=]{16,}(?:\\+[rn]|\s)+)+(?:[A-Za-z0-9+/=]+(?:\\+[rn]|\s)+)?)-----END (?:[A-Z0-9]+ )*PRIVATE KEY`)},
	// The same in base64: a kubeconfig, data of a Secret, a file of Ignition.
	{need: `ls0tls1crudjti`, form: regexp.MustCompile(`(LS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0EgUFJJVkFURS|BFQyBQUklWQVRF|BPUEVOU1NIIFBSSVZBVE|BFTkNSWVBURUQgUFJJVkFURS)[\w+/=-]*)`)},
	{need: `eyj`, form: regexp.MustCompile(`\b(eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+)`)}, // a JWT
	{need: `://`, form: regexp.MustCompile(`://[^\s/?#:@"'<>\\]*:([^\s/?#"'<>\\]+)@`)},
	{need: `iscsi:`, form: regexp.MustCompile(`\biscsi:[^\s:@/]+:([^\s:@/]+)(?::[^\s:@]+)*@`)}, // dracut.cmdline(7), netroot=iscsi:
	{need: `authorization`, form: regexp.MustCompile(`(?i)\b(?:proxy-)?authorization\b(?:\\*["'])?\s*[:=]\s*[\["'\\]*((?:(?:bearer|basic|token|negotiate)\s+)?[^\s"'\],;\\]+)`)},
	{need: `x-`, form: regexp.MustCompile(`(?i)\bx-[\w-]*(?:key|token)\b(?:\\*["'])?\s*[:=]\s*[\["'\\]*([^\s"'\],;\\]+)`)},
	{need: `cookie`, form: regexp.MustCompile(`(?i)\bcookie\b(?:\\*["'])?\s*:\s*[\["'\\]*([^\r\n"'\]\\]+)`)},
	{need: `bearer`, form: regexp.MustCompile(`(?i)\bbearer\s+([\w.~+/=-]{8,})`), secret: random},
	// A member of a pull secret or of Docker's config.json, in YAML as well.
	{need: `"`, form: regexp.MustCompile(`\\*"(?:auth|identitytoken|registrytoken)\\*"\s*:\s*\\*"([^"\\]+)`)},
	{need: `auth`, form: regexp.MustCompile(`\bauth\s*[:=]\s*'?([A-Za-z0-9+/]{8,}={0,2})`), secret: userAndPassword},
	// Variables, arguments of the kernel and of programs, queries of addresses.
	{need: `=`, form: regexp.MustCompile(`(?i)(?:` + word + `)=(?:\\*"([^"\\]+)|'([^']+)|([^\s"'\\&;]+))`)},
	{need: `--`, form: regexp.MustCompile(`(?i)\B--` + named + `\s+([^\s"'-][^\s"']*)`)},
	// YAML: a line of its own, and members of {a: b}. Go prints a map as map[a:b].
	{
		need: `:`, secret: scalar,
		form: regexp.MustCompile(`(?im)^[ \t-]*["']?` + named + `["']?:[ \t]+["']?([^\s"'{\[|>&*][^\s"']*)["']?[ \t\r]*$`),
	},
	{need: `:`, form: regexp.MustCompile(`(?i)[{,]\s*` + named + `:\s*["']?([^\s"',}{\[][^\s"',}]*)`), secret: scalar},
	{need: `:`, form: regexp.MustCompile(`(?i)[\[ ]` + named + `:([^\s"',:\]}\[/][^\s"',\]}]*)`), secret: scalar},
}

// scalar reports whether a text is a value that can be secret.
func scalar(text string) bool {
	switch strings.ToLower(text) {
	case "null", "~", "true", "false", "none", "nil", "<nil>":
		return false
	}
	return true
}

// random reports whether a text is no word of a sentence: "bearer authentication".
func random(text string) bool { return len(text) >= 24 || strings.ContainsAny(text, "0123456789._") }

// userAndPassword reports whether a text is user:password in base64.
func userAndPassword(text string) bool {
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	return err == nil && utf8.Valid(plain) && strings.Contains(string(plain), ":")
}

// passes bounds how often the rules are applied: one may leave what another finds.
const passes = 4

// Text returns the text without the secrets whose form it knows. A text without any is returned as it is.
func Text(text string) string {
	if !suspicious(text) {
		return text
	}
	for range passes {
		next := quoted(text)
		for _, r := range rules {
			next = r.replace(next)
		}
		if next == text {
			break
		}
		text = next
	}
	return text
}

func (r rule) replace(text string) string {
	if !contains(text, r.need) {
		return text
	}
	found := r.form.FindAllStringSubmatchIndex(text, -1)
	if found == nil {
		return text
	}
	var out strings.Builder
	last := 0
	for _, match := range found {
		for n := 2; n < len(match); n += 2 {
			begin, end := match[n], match[n+1]
			if begin < last || begin == end || r.secret != nil && !r.secret(text[begin:end]) {
				continue
			}
			begin, end, more := whole(text, begin, end)
			if !more || begin < last {
				continue
			}
			out.WriteString(text[last:begin])
			out.WriteString(Mark)
			last = end
		}
	}
	if last == 0 {
		return text
	}
	out.WriteString(text[last:])
	return out.String()
}

// whole widens a value so that a mark of before is in it or not, and reports whether it is more than that mark.
func whole(text string, begin, end int) (from, to int, more bool) {
	from, to = begin, end
	if at := strings.Index(text[max(0, begin-len(Mark)+1):min(len(text), begin+len(Mark)-1)], Mark); at >= 0 {
		from = min(begin, max(0, begin-len(Mark)+1)+at)
		to = max(to, from+len(Mark))
	}
	near := max(from, to-len(Mark)+1)
	if at := strings.Index(text[near:min(len(text), to+len(Mark)-1)], Mark); at >= 0 {
		to = max(to, near+at+len(Mark))
	}
	return from, to, text[from:to] != Mark
}
