package service

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"slipway/internal/app/process"
	"slipway/internal/app/settings"
	"slipway/internal/platform/certificates"
	"slipway/internal/platform/guard"
	"slipway/internal/platform/metrics"
)

// Listen opens the listener of the API, and takes the base URL from it where none is given.
func (s *Service) Listen(address string) error {
	if err := s.mayListen(address); err != nil {
		return err
	}
	s.warnOfSharedTokens()
	security, err := s.security(address)
	if err != nil {
		return err
	}
	if s.names, err = s.ownNames(address); err != nil {
		return err
	}
	bounds := s.options.Bounds(s.logger, s.process.Now)
	if s.server, err = process.Listen(address, security, bounds, s.process.Now, s.logger, s.Shutdown.Fail); err != nil {
		return err
	}
	if s.acme != nil {
		s.background("certificates of the ACME server", s.acme.Keep)
	}
	if s.options.BaseURL == "" {
		s.options.BaseURL = s.options.Scheme() + "://" + settings.Reachable(s.server.Address())
	}
	s.options.BaseURL = strings.TrimSuffix(s.options.BaseURL, "/")
	if err := s.checkHandedAuthority(); err != nil {
		return err
	}
	return s.listenForBoot(address, bounds)
}

// checkHandedAuthority refuses a certificate of the listener that hosts would refuse: they trust --service-ca and nothing else. A
// certificate that is not for the base URL is no host's: something in front has that.
func (s *Service) checkHandedAuthority() error {
	o := s.options
	if o.ServiceCA == "" || o.PlainHTTP || o.ACMEDirectory != "" {
		return nil
	}
	setting := "--tls-cert"
	if o.TLSCert == "" {
		setting = "the certificate of the service's own authority"
	}
	base, err := s.baseURL()
	if err != nil {
		return err
	}
	err = s.served.CheckAuthority([]byte(s.serviceCA), s.process.Now())
	if err != nil && !s.served.For(base.Hostname()) {
		s.logger.Warn("hosts need a proxy in front, whose certificate is of --service-ca", "base_url", o.BaseURL, "error", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("hosts trust --service-ca alone, and would refuse %s: %w", setting, err)
	}
	return nil
}

// listenForBoot opens the listener without TLS for machines that boot over the network, where one is wanted.
func (s *Service) listenForBoot(address string, bounds *guard.Connections) error {
	if s.options.HTTPPort == 0 {
		return nil
	}
	if s.options.PlainHTTP {
		return errors.New("--http-port requires HTTPS at --listen: --plain-http already serves everything without TLS")
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("read --listen: %w", err)
	}
	port := strconv.Itoa(s.options.HTTPPort)
	if s.bootServer, err = process.Listen(net.JoinHostPort(host, port), nil, bounds, s.process.Now, s.logger, s.Shutdown.Fail); err != nil {
		return fmt.Errorf("--http-port: %w", err)
	}
	base, err := s.baseURL()
	if err != nil {
		return err
	}
	s.bootURL = "http://" + net.JoinHostPort(base.Hostname(), port)
	return nil
}

// ListenPlain opens the listener of a part that serves probes only.
func (s *Service) ListenPlain(address string) error {
	var err error
	if s.serviceCA, err = readCertificates(s.options.ServiceCA); err != nil {
		return fmt.Errorf("read --service-ca: %w", err)
	}
	if s.serviceCA == "" && !s.options.PlainHTTP && s.options.TLSCert == "" {
		// The authority of an API with the same data folder.
		own, err := os.ReadFile(filepath.Join(s.certificates(), certificates.AuthorityFile))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read the authority of the service: %w", err)
		}
		s.serviceCA = string(own)
		s.ownAuthority(s.serviceCA, nil)
	}
	bounds := s.options.Bounds(s.logger, s.process.Now)
	if s.server, err = process.Listen(address, nil, bounds, s.process.Now, s.logger, s.Shutdown.Fail); err != nil {
		return err
	}
	if s.options.BaseURL == "" {
		s.options.BaseURL = "http://" + s.server.Address()
	}
	s.options.BaseURL = strings.TrimSuffix(s.options.BaseURL, "/")
	return nil
}

// mayListen refuses to open a service without authentication to a network by accident.
func (s *Service) mayListen(address string) error {
	if !s.identity.Open() {
		return nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("read --listen: %w", err)
	}
	if isLoopback(host) {
		return nil
	}
	if !s.options.InsecureOpen {
		return fmt.Errorf("AUTH_TYPE=none serves everybody: require an address of loopback, or --insecure-open, found --listen %s", address)
	}
	warning := "off: whoever reaches " + address +
		" has all clusters, their passwords and the disks of all hosts (AUTH_TYPE=none, --insecure-open)"
	s.logger.Warn("authentication is "+warning, "listen", address)
	s.checks = append(s.checks, process.Check{Name: "authentication", Warning: warning})
	return nil
}

// isLoopback reports whether only this machine reaches a name or an address.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// security returns the listener's TLS settings; nil: no HTTPS.
func (s *Service) security(address string) (*tls.Config, error) {
	o := s.options
	var err error
	if s.serviceCA, err = readCertificates(o.ServiceCA); err != nil {
		return nil, fmt.Errorf("read --service-ca: %w", err)
	}
	given, err := s.baseURL()
	if err != nil {
		return nil, err
	}
	switch {
	case o.PlainHTTP && (o.TLSCert != "" || o.TLSKey != "" || o.ACMEDirectory != ""):
		return nil, errors.New("--plain-http cannot be combined with --tls-cert, --tls-key or --acme-directory")
	case o.ACMEDirectory != "" && (o.TLSCert != "" || o.TLSKey != ""):
		return nil, errors.New("--acme-directory cannot be combined with --tls-cert or --tls-key")
	case o.PlainHTTP:
		return nil, nil
	case given.Scheme == "http":
		return nil, fmt.Errorf("--base-url: require https:// where the listener speaks HTTPS, or --plain-http, found %q", o.BaseURL)
	case (o.TLSCert == "") != (o.TLSKey == ""):
		return nil, errors.New("--tls-cert and --tls-key are required together")
	case o.TLSCert != "":
		return s.withCertificate(certificates.Files{Certificate: o.TLSCert, Key: o.TLSKey})
	}
	names, err := namesOf(address, given.Hostname())
	if err != nil {
		return nil, err
	}
	var created []string
	if _, err := os.Stat(filepath.Join(s.certificates(), certificates.AuthorityFile)); errors.Is(err, fs.ErrNotExist) {
		created = []string{
			filepath.Join(s.certificates(), certificates.AuthorityFile), filepath.Join(s.certificates(), certificates.AuthorityKeyFile),
		}
	}
	own, err := certificates.OpenOwn(s.certificates(), names, s.process.Now)
	if err != nil {
		return nil, err
	}
	s.background("certificates", own.Keep(s.logger))
	if o.ACMEDirectory != "" {
		return s.byACME(address, given.Hostname(), own.Files())
	}
	if s.serviceCA == "" {
		s.serviceCA = own.Authority()
		s.ownAuthority(s.serviceCA, created)
	}
	return s.withCertificate(own.Files())
}

// byACME returns the TLS settings of a listener whose certificate comes from an ACME server; other is for other names, and until then.
func (s *Service) byACME(address, name string, other certificates.Files) (*tls.Config, error) {
	o := s.options
	directory, err := settings.WebAddress("--acme-directory", o.ACMEDirectory)
	if err != nil {
		return nil, err
	}
	if directory.Scheme != "https" {
		return nil, fmt.Errorf("read --acme-directory: require https://, found %q", o.ACMEDirectory)
	}
	if _, err := netip.ParseAddr(name); err == nil || !strings.Contains(name, ".") {
		return nil, fmt.Errorf("--acme-directory: require --base-url https://NAME with the name in DNS that certificates are for, found %q",
			o.BaseURL)
	}
	_, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("read --listen: %w", err)
	}
	port, err := strconv.Atoi(portText)
	if err != nil || port == 0 {
		return nil, fmt.Errorf("--acme-directory: require --listen with a port, found %q", address)
	}
	var authorities []byte
	if o.ACMECAFile != "" {
		if authorities, err = os.ReadFile(o.ACMECAFile); err != nil {
			return nil, fmt.Errorf("read --acme-ca-file: %w", err)
		}
	}
	otherwise, err := other.Server(s.logger)
	if err != nil {
		return nil, err
	}
	acme, err := certificates.NewACME(certificates.ACMEOptions{
		Directory: o.ACMEDirectory, Authorities: authorities, Email: o.ACMEEmail, Name: name, Port: port,
		Dir: filepath.Join(s.certificates(), "acme"), Otherwise: otherwise.GetCertificate, Log: s.logger, Now: s.process.Now,
	})
	if err != nil {
		return nil, fmt.Errorf("read --acme-ca-file: %w", err)
	}
	s.registry.MustRegister(metrics.NewCertificate(acme.End))
	s.acme = acme
	return acme.Server(), nil
}

// withCertificate returns the TLS settings of a listener with these files, and shows when the certificate ends.
func (s *Service) withCertificate(files certificates.Files) (*tls.Config, error) {
	s.registry.MustRegister(metrics.NewCertificate(files.End))
	s.served = files
	return files.Server(s.logger)
}

// ownNames lists all names by which requests may call the service.
func (s *Service) ownNames(address string) ([]string, error) {
	base, err := s.baseURL()
	if err != nil {
		return nil, err
	}
	names, err := namesOf(address, base.Hostname())
	if err != nil {
		return nil, err
	}
	if images := s.options.ImageServiceURL; images != "" {
		u, err := settings.WebAddress("IMAGE_SERVICE_BASE_URL", images)
		if err != nil {
			return nil, err
		}
		names = append(names, u.Hostname())
	}
	return append(names, s.options.AllowedHosts...), nil
}

// guard returns the options of the checks before all handlers. Pages of the base URL may ask for changes: a proxy that ends TLS changes
// what their requests call the service.
func (s *Service) guard() guard.Options {
	return guard.Options{
		Names: s.names, Origins: append([]string{origin(s.options.BaseURL)}, s.options.AllowedOrigins...), Log: s.logger, Now: s.process.Now,
	}
}

// origin returns the part of an address that browsers name a site by.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Scheme + "://" + u.Host
}

// certificates returns the folder of the service's own authority.
func (s *Service) certificates() string { return filepath.Join(s.options.DataDir, "tls") }

// baseURL reads the address that was given; it is empty without.
func (s *Service) baseURL() (*url.URL, error) {
	if s.options.BaseURL == "" {
		return &url.URL{}, nil
	}
	return settings.WebAddress("--base-url", s.options.BaseURL)
}

// namesOf lists the names that a listener's certificate is for: the base URL's, the listener's own, and the names by which the machine
// finds itself.
func namesOf(listen, base string) ([]string, error) {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, fmt.Errorf("read --listen: %w", err)
	}
	names := []string{base, host}
	if own, err := os.Hostname(); err == nil {
		names = append(names, own)
	}
	names = append(names, "localhost", "127.0.0.1", "::1")
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		names = append(names, addresses()...)
	}
	var out []string
	for _, name := range names {
		ip, err := netip.ParseAddr(name)
		if name == "" || err == nil && ip.IsUnspecified() || slices.Contains(out, name) {
			continue
		}
		out = append(out, name)
	}
	return out, nil
}

// addresses lists the addresses of this machine, except those that need a zone.
func addresses() (out []string) {
	list, err := guard.OwnAddresses()
	if err != nil {
		return nil
	}
	for _, a := range list {
		if !a.IsLinkLocalUnicast() {
			out = append(out, a.String())
		}
	}
	return out
}
