package standin

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// lifetime of the certificates that the real installer makes for good.
const lifetime = 10 * 365 * 24 * time.Hour

// pair is a certificate and its key, in PEM.
type pair struct {
	Cert []byte `json:"cert"`
	Key  []byte `json:"key"`
}

// pki are the certificates of a new cluster.
type pki struct {
	Root        pair `json:"root"`         // signs the machine config server's
	APISigner   pair `json:"api_signer"`   // signs the API server's; in kubeconfig
	AdminSigner pair `json:"admin_signer"` // signs the administrator's
	Admin       pair `json:"admin"`
	MCS         pair `json:"mcs"`
}

// newPKI makes the certificates of a cluster whose API is api.<domain>.
func newPKI(domain string, now time.Time) (*pki, error) {
	var p pki
	mcs := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "system:machine-config-server"},
		DNSNames:    []string{"api-int." + domain, "localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		NotAfter:    now.Add(lifetime),
	}
	admin := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "system:admin", Organization: []string{"system:masters"}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		NotAfter:    now.Add(lifetime),
	}
	for _, step := range []struct {
		to, signer *pair
		template   *x509.Certificate
	}{
		{&p.Root, nil, authority("root-ca", now.Add(lifetime))},
		{&p.APISigner, nil, authority("kube-apiserver-lb-signer", now.Add(lifetime))},
		{&p.AdminSigner, nil, authority("admin-kubeconfig-signer", now.Add(lifetime))},
		{&p.MCS, &p.Root, mcs},
		{&p.Admin, &p.AdminSigner, admin},
	} {
		step.template.NotBefore = now
		made, err := sign(step.template, step.signer)
		if err != nil {
			return nil, fmt.Errorf("sign certificate of %s: %w", step.template.Subject.CommonName, err)
		}
		*step.to = made
	}
	return &p, nil
}

func authority(name string, until time.Time) *x509.Certificate {
	return &x509.Certificate{
		Subject:  pkix.Name{CommonName: name, OrganizationalUnit: []string{"openshift"}},
		NotAfter: until, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
}

// sign makes a key and its certificate; without a signer it signs itself.
func sign(template *x509.Certificate, signer *pair) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 126)); err != nil {
		return pair{}, err
	}
	parent, parentKey := template, key
	if signer != nil {
		if parent, parentKey, err = signer.read(); err != nil {
			return pair{}, err
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	if err != nil {
		return pair{}, err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return pair{}, err
	}
	return pair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}),
	}, nil
}

func (p pair) read() (*x509.Certificate, *ecdsa.PrivateKey, error) {
	certBlock, _ := pem.Decode(p.Cert)
	keyBlock, _ := pem.Decode(p.Key)
	if certBlock == nil || keyBlock == nil {
		return nil, nil, fmt.Errorf("require a certificate and a key in PEM")
	}
	cert, err := x509.ParseCertificate(certBlock.Bytes)
	if err != nil {
		return nil, nil, err
	}
	key, err := x509.ParseECPrivateKey(keyBlock.Bytes)
	return cert, key, err
}
