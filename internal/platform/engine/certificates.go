package engine

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"
	"go.temporal.io/server/common/config"

	x509certs "slipway/internal/platform/certificates"
)

// The files in the folder of TemporalOptions. Clients need all but the server's.
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

// certificates holds the certificates of a data folder. The key of the authority that signed them is kept nowhere, so that there is no
// other certificate of it.
type certificates struct{ authority, server, client x509certs.Pair }

// loadCertificates reads the certificates in a folder, or makes new ones where any is missing, damaged or about to expire.
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

// files maps names to the contents of the folder.
func (c *certificates) files() map[string]*[]byte {
	return map[string]*[]byte{
		authorityFile: &c.authority.Certificate,
		serverFile:    &c.server.Certificate, serverKeyFile: &c.server.Key,
		clientFile: &c.client.Certificate, clientKeyFile: &c.client.Key,
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
	if !roots.AppendCertsFromPEM(c.authority.Certificate) {
		return errors.New("no PEM certificate of an authority found")
	}
	for _, p := range []x509certs.Pair{c.server, c.client} {
		both, err := tls.X509KeyPair(p.Certificate, p.Key)
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
	named := x509.Certificate{Subject: pkix.Name{CommonName: "slipway bundled Temporal"}}
	root, authority, err := x509certs.NewAuthority(named, now, certificateEnd)
	if err != nil {
		return nil, err
	}
	c := &certificates{authority: authority}
	both := []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} // services call each other
	c.server, err = root.Issue(x509.Certificate{
		Subject: pkix.Name{CommonName: clientName}, DNSNames: []string{serverName}, IPAddresses: []net.IP{net.ParseIP(loopback)},
		ExtKeyUsage: both,
	}, now, certificateEnd)
	if err != nil {
		return nil, err
	}
	c.client, err = root.Issue(x509.Certificate{Subject: pkix.Name{CommonName: clientName}, ExtKeyUsage: both[1:]}, now, certificateEnd)
	return c, err
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
	authority := []string{text(c.authority.Certificate)}
	trust := config.ClientTLS{ServerName: serverName, RootCAData: authority}
	group := config.GroupTLS{Client: trust, Server: config.ServerTLS{
		CertData: text(c.server.Certificate), KeyData: text(c.server.Key), ClientCAData: authority, RequireClientAuth: true,
	}}
	return config.RootTLS{
		Internode: group,
		Frontend:  group,
		SystemWorker: config.WorkerTLS{
			CertData: text(c.server.Certificate), KeyData: text(c.server.Key), Client: trust,
		},
	}
}
