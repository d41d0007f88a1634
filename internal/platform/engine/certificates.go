package engine

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"
	"go.temporal.io/server/common/config"
)

// The files in the folder of TemporalOptions. Clients need all but those of the server.
const (
	authorityFile  = "ca.pem"
	serverFile     = "server.pem"
	serverKeyFile  = "server.key"
	clientFile     = "client.pem"
	clientKeyFile  = "client.key"
	certificateEnd = 20 * 365 * 24 * time.Hour // after their making
	renewBefore    = 365 * 24 * time.Hour      // longer than a server runs
)

// clientName is the subject of the certificates that the server takes calls from.
const clientName = "slipway"

// certificates are those of a data folder. The key of the authority that signed them is kept nowhere, so that there
// is no other certificate of it.
type certificates struct{ authority, server, client pair }

// pair is a certificate and its key in PEM.
type pair struct{ certificate, key []byte }

// loadCertificates reads those in a folder, or makes new ones where any is missing, damaged or about to expire.
// Clients that run on when the server is started again keep theirs.
func loadCertificates(dir string, now time.Time) (*certificates, error) {
	c := &certificates{}
	err := c.read(dir)
	if err == nil {
		err = c.check(now)
	}
	if err == nil {
		return c, nil
	}
	if c, err = newCertificates(now); err != nil {
		return nil, err
	}
	return c, c.write(dir)
}

// files are the contents of the folder by name.
func (c *certificates) files() map[string]*[]byte {
	return map[string]*[]byte{
		authorityFile: &c.authority.certificate,
		serverFile:    &c.server.certificate, serverKeyFile: &c.server.key,
		clientFile: &c.client.certificate, clientKeyFile: &c.client.key,
	}
}

func (c *certificates) read(dir string) error {
	for name, content := range c.files() {
		var err error
		if *content, err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("read Temporal's certificates: %w", err)
		}
	}
	return nil
}

// check verifies that all belong together.
func (c *certificates) check(now time.Time) error {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(c.authority.certificate) {
		return errors.New("require the certificate of an authority, found none")
	}
	for _, p := range []pair{c.server, c.client} {
		both, err := tls.X509KeyPair(p.certificate, p.key)
		if err != nil {
			return fmt.Errorf("read a certificate: %w", err)
		}
		_, err = both.Leaf.Verify(x509.VerifyOptions{
			Roots: roots, CurrentTime: now.Add(renewBefore), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		})
		if err != nil {
			return fmt.Errorf("verify a certificate: %w", err)
		}
	}
	return nil
}

func newCertificates(now time.Time) (*certificates, error) {
	root := &x509.Certificate{
		Subject: pkix.Name{CommonName: "slipway bundled Temporal"}, KeyUsage: x509.KeyUsageCertSign,
		IsCA: true, BasicConstraintsValid: true,
	}
	var c certificates
	var key *ecdsa.PrivateKey
	var err error
	if c.authority, key, err = issue(now, root, nil, nil); err != nil {
		return nil, err
	}
	both := []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} // services call each other
	c.server, _, err = issue(now, &x509.Certificate{
		Subject: pkix.Name{CommonName: clientName}, DNSNames: []string{serverName}, IPAddresses: []net.IP{net.ParseIP(loopback)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: both,
	}, root, key)
	if err != nil {
		return nil, err
	}
	c.client, _, err = issue(now, &x509.Certificate{
		Subject:  pkix.Name{CommonName: clientName},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: both[1:],
	}, root, key)
	if err != nil {
		return nil, err
	}
	return &c, nil
}

// issue signs a template by an authority; without one it signs itself.
func issue(now time.Time, template, authority *x509.Certificate, signer *ecdsa.PrivateKey) (pair, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, nil, fmt.Errorf("make a key: %w", err)
	}
	if authority == nil {
		authority, signer = template, key
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return pair{}, nil, fmt.Errorf("number a certificate: %w", err)
	}
	template.NotBefore, template.NotAfter = now.Add(-time.Hour), now.Add(certificateEnd) // clocks are set back
	der, err := x509.CreateCertificate(rand.Reader, template, authority, &key.PublicKey, signer)
	if err != nil {
		return pair{}, nil, fmt.Errorf("sign a certificate: %w", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return pair{}, nil, fmt.Errorf("write a key: %w", err)
	}
	return pair{
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
	}, key, nil
}

// write puts them into a folder that only the user of this process can enter.
func (c *certificates) write(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create folder for Temporal's certificates: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a folder
		return fmt.Errorf("protect folder of Temporal's certificates: %w", err)
	}
	for name, content := range c.files() {
		if err := renameio.WriteFile(filepath.Join(dir, name), *content, 0o600, renameio.IgnoreUmask()); err != nil {
			return fmt.Errorf("write Temporal's certificates: %w", err)
		}
	}
	return nil
}

// config has every service take calls with a certificate of the authority only, and send its own.
func (c *certificates) config() config.RootTLS {
	text := base64.StdEncoding.EncodeToString
	authority := []string{text(c.authority.certificate)}
	trust := config.ClientTLS{ServerName: serverName, RootCAData: authority}
	group := config.GroupTLS{Client: trust, Server: config.ServerTLS{
		CertData: text(c.server.certificate), KeyData: text(c.server.key), ClientCAData: authority, RequireClientAuth: true,
	}}
	return config.RootTLS{
		Internode: group,
		Frontend:  group,
		SystemWorker: config.WorkerTLS{
			CertData: text(c.server.certificate), KeyData: text(c.server.key), Client: trust,
		},
	}
}
