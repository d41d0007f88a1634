package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"slipway/internal/app/settings"
	"slipway/internal/platform/certificates"
)

// renewSoon is how long before its end a certificate of the user should be replaced.
const renewSoon = 14 * 24 * time.Hour

const replaceIt = "replace it; the service reads it again without a restart"

// running looks whether the service runs, and reads what it says of its parts.
func (e *examination) running(ctx context.Context) {
	const check = "service"
	client := &http.Client{Timeout: patience, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, //nolint:gosec // nothing is sent; see certificate
	}}
	address := e.Settings.Scheme() + "://" + settings.Reachable(e.Settings.Listen) + "/ready"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return
	}
	response, err := client.Do(request)
	if err != nil {
		e.ok(check, "does not run, or does not answer at "+e.Settings.Listen)
		return
	}
	defer response.Body.Close()
	parts := map[string]string{}
	if err := json.NewDecoder(response.Body).Decode(&parts); err != nil || parts["status"] == "" {
		return // another program: listener finds the port taken
	}
	e.listens = true
	if response.StatusCode == http.StatusOK {
		e.ok(check, "runs at "+e.Settings.Listen)
		return
	}
	var broken []string
	for name, state := range parts {
		if name != "status" && state != "ok" {
			broken = append(broken, name+": "+state)
		}
	}
	slices.Sort(broken)
	e.problem(check, "runs at "+e.Settings.Listen+", and is "+parts["status"]+" "+strings.Join(broken, ", "),
		"its log names the cause: journalctl -u slipway")
}

// listener checks the ports that a start needs.
func (e *examination) listener(ctx context.Context) {
	if e.listens {
		return
	}
	e.port(ctx, "port", e.Settings.Listen, "--listen")
	if e.Settings.HTTPPort != 0 {
		host, _, _ := net.SplitHostPort(e.Settings.Listen)
		e.port(ctx, "plain port", net.JoinHostPort(host, fmt.Sprint(e.Settings.HTTPPort)), "--http-port")
	}
}

func (e *examination) port(ctx context.Context, check, address, flag string) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		do := "end the program that has it (ss -ltnp), or choose another with " + flag
		if errors.Is(err, syscall.EADDRNOTAVAIL) {
			do = "name an address of this machine with " + flag + " (ip address), or 0.0.0.0"
		}
		e.problem(check, err.Error(), do)
		return
	}
	_ = l.Close()
	e.ok(check, address+" is free")
}

// base returns the address that hosts get.
func (e *examination) base() *url.URL {
	scheme := e.Settings.Scheme()
	text := e.Settings.BaseURL
	if text == "" {
		text = scheme + "://" + settings.Reachable(e.Settings.Listen)
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return &url.URL{Scheme: scheme, Host: e.Settings.Listen}
	}
	return u
}

// address checks that hosts find the service.
func (e *examination) address(ctx context.Context) {
	const check = "address"
	base := e.base()
	name := base.Hostname()
	addresses := []netip.Addr{}
	if ip, err := netip.ParseAddr(name); err == nil {
		addresses = append(addresses, ip)
	} else {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if addresses, err = e.Machine.Resolve(ctx, name); err != nil {
			e.problem(check, fmt.Sprintf("%s: %v", base, err), "add a record for it to the DNS that hosts use, or name an address with --base-url")
			return
		}
	}
	own, err := e.Machine.Own()
	local := slices.ContainsFunc(addresses, netip.Addr.IsLoopback)
	foreign := err == nil && !slices.ContainsFunc(addresses, func(a netip.Addr) bool { return slices.Contains(own, a.Unmap()) })
	switch {
	case local:
		e.warning(check, fmt.Sprintf("hosts get %s, which only this machine reaches", base),
			"name an address that hosts reach with --listen or --base-url, and download discovery images again")
	case foreign:
		e.warning(check, fmt.Sprintf("%s is no address of this machine: %v", base, addresses),
			"nothing, where a proxy or load balancer is there; otherwise correct the record or --base-url")
	default:
		e.ok(check, fmt.Sprintf("hosts get %s", base))
	}
}

// certificate verifies the chain of the listener as hosts do.
func (e *examination) certificate(context.Context) {
	const check = "certificate"
	if e.Settings.PlainHTTP {
		return
	}
	roots, trusted, err := e.roots()
	if err != nil {
		e.problem(check, err.Error(), "name a file with certificates in PEM with --service-ca")
		return
	}
	chain, whose, err := e.chain()
	if errors.Is(err, os.ErrNotExist) && e.Settings.TLSCert == "" {
		e.ok(check, "is made by the first start")
		return
	}
	if err != nil {
		e.problem(check, err.Error(), "correct --tls-cert and --tls-key")
		return
	}
	inner := x509.NewCertPool()
	for _, c := range chain[1:] {
		inner.AddCert(c)
	}
	name := e.base().Hostname()
	_, err = chain[0].Verify(x509.VerifyOptions{DNSName: name, Roots: roots, Intermediates: inner, CurrentTime: e.Process.Now()})
	var unknown x509.UnknownAuthorityError
	var wrong x509.HostnameError
	left := chain[0].NotAfter.Sub(e.Process.Now())
	switch {
	case errors.As(err, &unknown):
		e.problem(check, fmt.Sprintf("hosts trust %s, and refuse %s: %v", trusted, whose, err),
			"name the authority that signed it with --service-ca, and put the certificates between into --tls-cert")
	case errors.As(err, &wrong):
		e.problem(check, fmt.Sprintf("%s: %v", whose, err), "get one for "+name+", or name the service as the certificate does with --base-url")
	case err != nil:
		e.problem(check, fmt.Sprintf("%s: %v", whose, err), replaceIt)
	case left < renewSoon && e.Settings.TLSCert != "":
		e.warning(check, fmt.Sprintf("%s ends at %s", whose, chain[0].NotAfter.Format(time.RFC3339)), replaceIt)
	default:
		e.ok(check, fmt.Sprintf("%s is for %s, until %s; hosts trust %s", whose, name, chain[0].NotAfter.Format(time.DateOnly), trusted))
	}
}

// roots returns the certificates that hosts trust for the address of the service.
func (e *examination) roots() (pool *x509.CertPool, whose string, err error) {
	path, whose := e.Settings.ServiceCA, "the certificates in --service-ca"
	if path == "" && e.Settings.TLSCert == "" {
		path, whose = filepath.Join(e.Settings.DataDir, "tls", certificates.AuthorityFile), "the service's own authority"
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return x509.NewCertPool(), whose, nil
		}
	}
	if path == "" {
		pool, err = x509.SystemCertPool()
		return pool, "the certificates of their system", err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	if pool = x509.NewCertPool(); !pool.AppendCertsFromPEM(text) {
		return nil, "", fmt.Errorf("no certificate in %s", path)
	}
	return pool, whose, nil
}

// chain reads the certificate of the listener and the certificates after it.
func (e *examination) chain() (chain []*x509.Certificate, path string, err error) {
	path, key := e.Settings.TLSCert, e.Settings.TLSKey
	if path == "" {
		path, key = filepath.Join(e.Settings.DataDir, "tls", "server.pem"), filepath.Join(e.Settings.DataDir, "tls", "server.key")
	}
	pair, err := tls.LoadX509KeyPair(path, key)
	if err != nil {
		return nil, path, fmt.Errorf("read the certificate of the service: %w", err)
	}
	for _, der := range pair.Certificate {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, path, fmt.Errorf("read %s: %w", path, err)
		}
		chain = append(chain, c)
	}
	return chain, path, nil
}
