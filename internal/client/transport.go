package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

// Transport makes an HTTP client that trusts the certificates in a PEM file and no other, or all when insecure. It goes through the
// proxies of the environment.
func Transport(caCert string, insecure bool) (*http.Client, error) {
	var content []byte
	if caCert != "" {
		var err error
		if content, err = os.ReadFile(caCert); err != nil {
			return nil, fmt.Errorf("read the certificates: %w", err)
		}
	}
	c, err := TransportPEM(content, insecure)
	if err != nil {
		return nil, fmt.Errorf("read the certificates: %w in %s", err, caCert)
	}
	return c, nil
}

// Pinned makes an HTTP client that trusts these certificates, PEM, and no other: a certificate of the system's authorities for the name of
// a service is not the service's. Without certificates it trusts the system's.
func Pinned(authorities []byte) (*http.Client, error) { return TransportPEM(authorities, false) }

// TransportPEM makes a client as Pinned, which trusts every certificate when insecure.
func TransportPEM(authorities []byte, insecure bool) (*http.Client, error) {
	security := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: insecure} //nolint:gosec // asked for by a flag
	if len(authorities) > 0 {
		security.RootCAs = x509.NewCertPool()
		if !security.RootCAs.AppendCertsFromPEM(authorities) {
			return nil, errors.New("no PEM certificate found")
		}
	}
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: security, ForceAttemptHTTP2: true,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 90 * time.Second, MaxIdleConnsPerHost: 8,
	}}, nil
}
