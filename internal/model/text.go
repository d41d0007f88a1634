package model

import (
	"net/netip"
	"slices"
	"strings"
	"unicode"
)

// Everywhere is the proxy exception that stands alone and bypasses the proxy for all destinations.
const Everywhere = "*"

// Exceptions returns the destinations that are reached without a proxy, each once, in the order of the user and in lower case, which
// openshift-install requires. Rows of older versions hold blanks, line breaks and capitals.
func (p Proxy) Exceptions() []string {
	separates := func(r rune) bool { return r == ',' || unicode.IsSpace(r) }
	return AddExceptions(nil, strings.FieldsFunc(strings.ToLower(p.NoProxy), separates)...)
}

// ExceptionList returns the exceptions as programs read them: separated by commas, without blanks.
func (p Proxy) ExceptionList() string { return strings.Join(p.Exceptions(), ",") }

// AddExceptions appends the destinations that a list does not hold yet, in any spelling. A list that holds Everywhere
// stays alone.
func AddExceptions(list []string, more ...string) []string {
	for _, e := range more {
		same := func(have string) bool { return have == Everywhere || spelled(have) == spelled(e) }
		if !slices.ContainsFunc(list, same) {
			list = append(list, e)
		}
	}
	return list
}

// spelled returns the one spelling of a domain, an address or a network.
func spelled(exception string) string {
	if a, err := netip.ParseAddr(exception); err == nil {
		return a.String()
	}
	if n, err := netip.ParsePrefix(exception); err == nil {
		return n.Masked().String()
	}
	return strings.ToLower(exception)
}

// Lines returns text with the line breaks of Unix and without blanks at the ends of lines: editors of other systems and terminals add
// them to keys and certificates.
func Lines(text string) string {
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t")
	}
	return strings.TrimLeft(strings.Join(lines, "\n"), "\n")
}

// SSHKeys returns the lines of SSHPublicKey, also of rows that older versions stored with other line breaks.
func (c *Cluster) SSHKeys() string { return KeyLines(c.SSHPublicKey) }

// SSHKeys returns the lines of SSHAuthorizedKey, also of rows that older versions stored with other line breaks.
func (e *InfraEnv) SSHKeys() string { return KeyLines(e.SSHAuthorizedKey) }

// TrustBundle returns the certificates of the user in PEM, also of rows that older versions stored with other line breaks.
func (e *InfraEnv) TrustBundle() string { return Lines(e.AdditionalTrustBundle) }

// KeyLines returns lines of authorized_keys(5) without blanks around them and without empty lines.
func KeyLines(text string) string {
	var keys []string
	for line := range strings.Lines(Lines(text)) {
		if line = strings.TrimSpace(line); line != "" {
			keys = append(keys, line)
		}
	}
	return strings.Join(keys, "\n")
}

// Authority returns the certificates of the endpoint in base64 without line breaks, which Ignition takes in an address.
func (e IgnitionEndpoint) Authority() string { return Unwrapped(e.CACertificate) }

// Unwrapped returns base64 without the line breaks and blanks that base64(1) and YAML add.
func Unwrapped(text string) string { return strings.Join(strings.Fields(text), "") }

// Abridged shortens text for an error.
func Abridged(text string) string {
	if len(text) <= 60 {
		return text
	}
	return text[:60] + "..."
}
