// Package pki makes the certificates of a cluster that the simulation or the bench installs.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"slices"
	"time"
)

// lifetime of certificates, and how far back they begin: clocks of new hosts are off.
const (
	lifetime = 10 * 365 * 24 * time.Hour
	before   = 24 * time.Hour
)

// Pair is a certificate and its key, in PEM.
type Pair struct {
	Cert []byte `json:"cert"`
	Key  []byte `json:"key"`
}

// Subject says whom a certificate is for.
type Subject struct {
	Name   string
	Groups []string
	// Hosts are names and addresses of a server.
	Hosts []string
}

// Authority makes a certificate that signs others.
func Authority(name string, now time.Time) (Pair, error) {
	made, err := sign(&x509.Certificate{
		Subject:   pkix.Name{CommonName: name, OrganizationalUnit: []string{"openshift"}},
		NotBefore: now.Add(-before), NotAfter: now.Add(lifetime),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}, nil)
	if err != nil {
		return Pair{}, fmt.Errorf("make the authority %s: %w", name, err)
	}
	return made, nil
}

// Issue makes a certificate for a client that may also be a server.
func (p Pair) Issue(s Subject, now time.Time) (Pair, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: s.Name, Organization: s.Groups}, NotBefore: now.Add(-before), NotAfter: now.Add(lifetime),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	for _, host := range s.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	if len(s.Hosts) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	made, err := sign(template, &p)
	if err != nil {
		return Pair{}, fmt.Errorf("issue a certificate to %s: %w", s.Name, err)
	}
	return made, nil
}

// Key makes a key pair, in PEM: what service account tokens are signed with.
func Key() (private, public []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if private, err = encodeKey(key); err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	return private, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), err
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), err
}

// sign makes a key and its certificate; without a signer it signs itself.
func sign(template *x509.Certificate, signer *Pair) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 126)); err != nil {
		return Pair{}, err
	}
	parent, parentKey := template, key
	if signer != nil {
		if parent, parentKey, err = signer.read(); err != nil {
			return Pair{}, err
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	if err != nil {
		return Pair{}, err
	}
	private, err := encodeKey(key)
	return Pair{Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), Key: private}, err
}

func (p Pair) read() (*x509.Certificate, *ecdsa.PrivateKey, error) {
	certificate, _ := pem.Decode(p.Cert)
	key, _ := pem.Decode(p.Key)
	if certificate == nil || key == nil {
		return nil, nil, errors.New("require a certificate and a key in PEM")
	}
	parsed, err := x509.ParseCertificate(certificate.Bytes)
	if err != nil {
		return nil, nil, err
	}
	private, err := x509.ParseECPrivateKey(key.Bytes)
	return parsed, private, err
}

// says reports whether a certificate names a subject, is signed by an authority, and has the key of the pair.
func (p Pair) says(s Subject, authority Pair) bool {
	certificate, key, err := p.read()
	if err != nil || !key.PublicKey.Equal(certificate.PublicKey) {
		return false
	}
	signer, _, err := authority.read()
	if err != nil || certificate.CheckSignatureFrom(signer) != nil {
		return false
	}
	hosts := slices.Clone(certificate.DNSNames)
	for _, ip := range certificate.IPAddresses {
		hosts = append(hosts, ip.String())
	}
	return certificate.Subject.CommonName == s.Name && sameSet(certificate.Subject.Organization, s.Groups) && sameSet(hosts, s.Hosts)
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Compact(slices.Sorted(slices.Values(a))), slices.Compact(slices.Sorted(slices.Values(b))))
}
