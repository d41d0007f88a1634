// Package access reads what a cluster and its hosts reach others with, and are reached with: SSH keys, proxies, certificates. It accepts
// what openshift-install does; its errors have no name of a field in front, which callers add.
package access

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/crypto/ssh"

	"slipway/internal/model"
)

// Schemes of the addresses of proxies: nodes support no others.
var (
	HTTPProxy  = []string{"http"}
	HTTPSProxy = []string{"http", "https"}
)

// PublicKeys reads lines of authorized_keys(5) without options. It returns them without blanks and with the line breaks of Unix.
func PublicKeys(text string) (string, error) {
	keys := model.KeyLines(text)
	for line := range strings.SplitSeq(keys, "\n") {
		if line != "" && !strings.HasPrefix(line, "#") && !isPublicKey(line) {
			return "", fmt.Errorf("require public keys such as \"ssh-ed25519 AAAA... name\", one a line, found %q", model.Abridged(line))
		}
	}
	return keys, nil
}

// isPublicKey reports whether a line holds a key without options that openshift-install and sshd can parse.
func isPublicKey(line string) bool {
	key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(line))
	return err == nil && len(options) == 0 && strings.Fields(line)[0] == key.Type()
}

// CheckProxy checks the address of a proxy. Errors do not contain it: it may have a password.
func CheckProxy(address string, schemes []string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || !slices.Contains(schemes, u.Scheme) || strings.ContainsFunc(address, unicode.IsSpace) {
		return fmt.Errorf("must be an address that begins with %s://", strings.Join(schemes, ":// or "))
	}
	return nil
}

// Exceptions reads exceptions of a proxy, separated by commas, and returns them without blanks and line breaks and in lower case.
func Exceptions(text string) (string, error) {
	if text = strings.ToLower(strings.TrimSpace(text)); text == "" || text == model.Everywhere {
		return text, nil
	}
	items := strings.Split(text, ",")
	for i, item := range items {
		items[i] = strings.TrimSpace(item)
		if !isException(items[i]) {
			return "", fmt.Errorf("require domains, addresses and networks separated by commas, or *, found %q", items[i])
		}
	}
	return strings.Join(items, ","), nil
}

func isException(item string) bool {
	if _, err := netip.ParseAddr(item); err == nil {
		return true
	}
	if _, err := netip.ParsePrefix(item); err == nil {
		return true
	}
	return IsDomain(strings.TrimPrefix(item, "."))
}

// MaxDomain is the length of the longest domain: the domain of a cluster leaves room for console-openshift-console.apps in front of it.
const MaxDomain = 181

// label is a part of a DNS name (RFC 1123): lower-case letters, digits and inner hyphens.
var label = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// IsLabel reports whether text is a label of a DNS name.
func IsLabel(text string) bool { return label.MatchString(text) }

// IsDomain reports whether text is a DNS domain of lower-case labels.
func IsDomain(text string) bool {
	return len(text) <= MaxDomain && !slices.ContainsFunc(strings.Split(text, "."), func(l string) bool { return !IsLabel(l) })
}

// CheckCertificates accepts certificates in PEM, one after the other.
func CheckCertificates(text string) error {
	rest, found := bytes.TrimSpace([]byte(text)), 0
	for len(rest) > 0 {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil || block.Type != "CERTIFICATE" {
			return fmt.Errorf("must be certificates in PEM, block %d is not", found+1)
		}
		rest, found = bytes.TrimSpace(rest), found+1
	}
	if len(rest) > 0 || found == 0 && text != "" {
		return fmt.Errorf("must be certificates in PEM, the text after certificate %d is not", found)
	}
	return nil
}
