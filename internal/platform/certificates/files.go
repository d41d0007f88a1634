package certificates

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// Files are the paths of a certificate, with its issuers behind it, and of its key, both PEM.
type Files struct{ Certificate, Key string }

// Server returns the settings of a listener with this certificate. Files that change are read again at the next connection;
// while they do not belong together, the certificate before is sent.
func (f Files) Server(log *slog.Logger) (*tls.Config, error) {
	s := &source{files: f, log: log}
	if _, err := s.get(nil); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.get}, nil
}

// End returns when the certificate ends, as it is on disk now.
func (f Files) End() (time.Time, error) {
	text, err := os.ReadFile(f.Certificate)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the certificate: %w", err)
	}
	certificate, err := ParseCertificate(text)
	if err != nil {
		return time.Time{}, fmt.Errorf("read %s: %w", f.Certificate, err)
	}
	return certificate.NotAfter, nil
}

// CheckAuthority returns an error unless one of the authorities, PEM, signed the certificate: clients that pin them refuse others. That the
// certificate has ended is no error here.
func (f Files) CheckAuthority(authorities []byte, at time.Time) error {
	roots, err := parseAll(authorities)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(f.Certificate)
	if err != nil {
		return fmt.Errorf("read the certificate: %w", err)
	}
	chain, err := parseAll(text)
	if err != nil {
		return fmt.Errorf("read %s: %w", f.Certificate, err)
	}
	leaf, pinned, between := chain[0], x509.NewCertPool(), x509.NewCertPool()
	for _, c := range roots {
		pinned.AddCert(c)
	}
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	if at.After(leaf.NotAfter) {
		at = leaf.NotAfter
	}
	_, err = leaf.Verify(x509.VerifyOptions{Roots: pinned, Intermediates: between, CurrentTime: at})
	if err != nil {
		return fmt.Errorf("require a certificate that %s signed, found %s of %s: %w",
			subjects(roots), leaf.Subject, leaf.Issuer, err)
	}
	return nil
}

// For reports whether the certificate is for a name or an address.
func (f Files) For(name string) bool {
	text, err := os.ReadFile(f.Certificate)
	if err != nil {
		return false
	}
	certificate, err := ParseCertificate(text)
	return err == nil && certificate.VerifyHostname(name) == nil
}

// parseAll reads every certificate of a text in PEM, at least one.
func parseAll(text []byte) ([]*x509.Certificate, error) {
	var all []*x509.Certificate
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, errors.New("require a certificate in PEM, found none")
	}
	return all, nil
}

func subjects(all []*x509.Certificate) string {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.Subject.String()
	}
	return strings.Join(names, " or ")
}

// source is a certificate that may be replaced on disk.
type source struct {
	files Files
	log   *slog.Logger

	mu      sync.Mutex
	seen    [2]stamp
	current *tls.Certificate
}

// stamp holds the properties that change with a file.
type stamp struct {
	size     int64
	modified time.Time
}

func (s *source) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stamps, err := s.stamps()
	if err == nil && s.current != nil && stamps == s.seen {
		return s.current, nil
	}
	var loaded tls.Certificate
	if err == nil {
		loaded, err = tls.LoadX509KeyPair(s.files.Certificate, s.files.Key)
	}
	switch {
	case err == nil:
		s.current, s.seen = &loaded, stamps
	case s.current == nil:
		return nil, fmt.Errorf("read the certificate %s and its key: %w", s.files.Certificate, err)
	case stamps != s.seen:
		s.seen = stamps
		s.log.Warn("certificate not read again; the one before is sent", "file", s.files.Certificate, "error", err)
	}
	return s.current, nil
}

func (s *source) stamps() (out [2]stamp, err error) {
	for i, path := range []string{s.files.Certificate, s.files.Key} {
		info, err := os.Stat(path)
		if err != nil {
			return out, err
		}
		out[i] = stamp{info.Size(), info.ModTime()}
	}
	return out, nil
}
