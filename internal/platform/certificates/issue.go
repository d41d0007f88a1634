// Package certificates makes X.509 certificates, and keeps the certificate of a listener.
package certificates

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// Pair is a certificate and its key (PKCS #8), both PEM.
type Pair struct{ Certificate, Key []byte }

// Authority signs certificates.
type Authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// validFrom is when all certificates begin: hosts without NTP, and those whose clock holds local time or was lost, check
// them too. A certificate is as secret as its key whenever it begins.
const validFrom = 946684800 // Unix seconds of 2000-01-01

// NewAuthority makes an authority that ends after life.
func NewAuthority(template x509.Certificate, now time.Time, life time.Duration) (*Authority, Pair, error) {
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, Pair{}, fmt.Errorf("make a key: %w", err)
	}
	pair, err := sign(&template, &template, key, key, now, life)
	if err != nil {
		return nil, Pair{}, err
	}
	a, err := ParseAuthority(pair)
	return a, pair, err
}

// ParseAuthority reads an authority that NewAuthority made.
func ParseAuthority(p Pair) (*Authority, error) {
	certificate, err := ParseCertificate(p.Certificate)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(p.Key)
	if block == nil {
		return nil, errors.New("no PEM key found")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read the key of an authority: %w", err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("require a key that signs, found %T", key)
	}
	return &Authority{certificate, signer}, nil
}

// ParseCertificate reads the first certificate of a text in PEM.
func ParseCertificate(text []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("no PEM certificate found")
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read a certificate: %w", err)
	}
	return certificate, nil
}

// Issue signs a certificate that ends after life, with a new key.
func (a *Authority) Issue(template x509.Certificate, now time.Time, life time.Duration) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("make a key: %w", err)
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	return sign(&template, a.certificate, key, a.key, now, life)
}

// IssueServer signs the certificate of a listener, for its host names and addresses.
func (a *Authority) IssueServer(names []string, now time.Time, life time.Duration) (Pair, error) {
	template := x509.Certificate{
		Subject: pkix.Name{CommonName: names[0]}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range names {
		if address := net.ParseIP(name); address != nil {
			template.IPAddresses = append(template.IPAddresses, address)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	return a.Issue(template, now, life)
}

// Vouches reports whether the authority has signed the certificate of a listener, for all names, and whether it is good at a time.
func (a *Authority) Vouches(listener Pair, names []string, at time.Time) bool {
	both, err := tls.X509KeyPair(listener.Certificate, listener.Key)
	if err != nil {
		return false
	}
	roots := x509.NewCertPool()
	roots.AddCert(a.certificate)
	_, err = both.Leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: at})
	for _, name := range names {
		err = errors.Join(err, both.Leaf.VerifyHostname(name))
	}
	return err == nil
}

// Ends returns the time from which the authority is not trusted any more.
func (a *Authority) Ends() time.Time { return a.certificate.NotAfter }

func sign(
	template, parent *x509.Certificate, key *ecdsa.PrivateKey, signer crypto.Signer, now time.Time, life time.Duration,
) (Pair, error) {
	var err error
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return Pair{}, fmt.Errorf("number a certificate: %w", err)
	}
	template.NotBefore, template.NotAfter = time.Unix(validFrom, 0), now.Add(life)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return Pair{}, fmt.Errorf("sign a certificate: %w", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, fmt.Errorf("write a key: %w", err)
	}
	return Pair{
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
	}, nil
}
