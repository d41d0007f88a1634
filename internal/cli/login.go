package cli

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"slipway/internal/client"
	"slipway/internal/client/contexts"
	"slipway/internal/model"
)

// LoginCommand keeps address, authority and token of a service as the current context.
type LoginCommand struct {
	Server      string       `arg:"" help:"Address of the service: https://slipway.example.com:8090."`
	Name        string       `help:"Name of the context; by default host and port of the address."`
	Token       model.Secret `env:"SLIPWAY_TOKEN" help:"Token; by default the user signs in at the issuer of the service, if it has one, or the token is asked for, or read from the input." placeholder:"TOKEN"`
	Device      bool         `help:"Sign in at the issuer even where the input is no terminal, which would be read for a token."`
	IssuerCA    string       `name:"issuer-ca-file" type:"path" help:"Certificates, PEM, that the issuer is verified with, beside the system's certificates." placeholder:"FILE"`
	Authority   string       `name:"ca-file" xor:"trust" env:"SLIPWAY_CA_FILE" type:"path" help:"Certificates, PEM, that the certificate of the service is signed with, alone; by default the system's certificates." placeholder:"FILE"`
	Fingerprint string       `xor:"trust" help:"SHA-256 of the authority of the service, which it prints at its first start." placeholder:"HEX"`
	Insecure    bool         `help:"Log in at an address of http, and send the token without encryption."`
	Config      string       `env:"SLIPWAY_CONFIG" type:"path" help:"File with the contexts." placeholder:"FILE"`
}

// Run asks the service something that needs the token, and writes the file.
func (k *LoginCommand) Run(ctx context.Context, t *Terminal) error {
	server, err := address(k.Server)
	if err != nil {
		return err
	}
	at, err := url.Parse(server)
	if err != nil {
		return fmt.Errorf("read the address: %w", err)
	}
	if at.Scheme == "http" && !k.Insecure && !loopback(at.Hostname()) {
		return usagef("require an address of https, which does not show the token to the network, or --insecure, found %q", server)
	}
	made := contexts.Context{Name: cmp.Or(k.Name, at.Host), Server: server}
	if made.Authority, err = k.authority(ctx, at); err != nil {
		return err
	}
	carrier, err := client.Pinned(made.Authority)
	if err != nil {
		return fmt.Errorf("read --ca-file: %w", err)
	}
	options := client.Options{BaseURL: made.Server, UserAgent: "slipway-cli", HTTPClient: carrier}
	if k.Token == "" {
		if k.Token, err = k.find(ctx, t, options); err != nil {
			return err
		}
	}
	made.Token, options.UserToken = k.Token.Reveal(), k.Token
	service := client.New(options)
	if _, err := service.OpenShiftVersions(ctx, true); err != nil {
		return failed(made.Server, "log in", err)
	}
	path, file, err := readContexts(k.Config)
	if err != nil {
		return err
	}
	file.Put(made)
	if err := file.Write(path); err != nil {
		return err
	}
	t.printf("context %s of %s is the current one\n", made.Name, path)
	return nil
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// find gets a token from the issuer of the service, or from the user.
func (k *LoginCommand) find(ctx context.Context, t *Terminal, options client.Options) (model.Secret, error) {
	if !k.Device && !term.IsTerminal(int(os.Stdin.Fd())) {
		return askToken(t)
	}
	at, err := client.New(options).SignInAt(ctx)
	switch {
	case err != nil:
		return "", failed(options.BaseURL, "log in", err)
	case at.Issuer != "":
		return k.signInAtIssuer(ctx, t, at, options)
	case k.Device:
		return "", fmt.Errorf("--device requires a service whose users sign in at an issuer; this one has tokens: use --token")
	}
	return askToken(t)
}

// authority reads the certificates that verify the service's; empty: the system's.
func (k *LoginCommand) authority(ctx context.Context, address *url.URL) ([]byte, error) {
	if k.Authority != "" {
		content, err := os.ReadFile(k.Authority)
		if err != nil {
			return nil, fmt.Errorf("read --ca-file: %w", err)
		}
		return content, nil
	}
	if k.Fingerprint == "" {
		return nil, nil
	}
	return authorityOf(ctx, address, k.Fingerprint)
}

// dialLimit is how long a service may take to show its certificate.
const dialLimit = 20 * time.Second

// authorityOf fetches the authority with a fingerprint from a service that sends it with its certificate.
func authorityOf(ctx context.Context, address *url.URL, fingerprint string) ([]byte, error) {
	want, err := hex.DecodeString(strings.ReplaceAll(strings.TrimPrefix(strings.ToLower(fingerprint), "sha256:"), ":", ""))
	if err != nil || len(want) != sha256.Size {
		return nil, fmt.Errorf("read --fingerprint: require 64 hexadecimal digits, found %q", fingerprint)
	}
	port := address.Port()
	if port == "" {
		port = "443"
	}
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	// Nothing is sent on this connection: it shows a certificate, which the fingerprint proves.
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}} //nolint:gosec // proved below
	c, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(address.Hostname(), port))
	if err != nil {
		return nil, failed(address.String(), "fetch the certificate", err)
	}
	defer func() { _ = c.Close() }()
	secured, ok := c.(*tls.Conn)
	if !ok {
		return nil, errors.New("fetch the certificate: require a connection with TLS")
	}
	sent := secured.ConnectionState().PeerCertificates
	at := slices.IndexFunc(sent, func(c *x509.Certificate) bool {
		sum := sha256.Sum256(c.Raw)
		return c.IsCA && slices.Equal(sum[:], want)
	})
	if at < 0 {
		return nil, fmt.Errorf("require an authority with the fingerprint %x, found %s", want, fingerprints(sent))
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: sent[at].Raw}), nil
}

func fingerprints(sent []*x509.Certificate) string {
	var out []string
	for _, c := range sent {
		if c.IsCA {
			out = append(out, fmt.Sprintf("%x", sha256.Sum256(c.Raw)))
		}
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// askToken reads a token that is not shown.
func askToken(t *Terminal) (model.Secret, error) {
	if input := int(os.Stdin.Fd()); term.IsTerminal(input) {
		t.note("token:")
		text, err := term.ReadPassword(input)
		if err != nil {
			return "", fmt.Errorf("read the token: %w", err)
		}
		return model.Secret(strings.TrimSpace(string(text))), nil
	}
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if line = strings.TrimSpace(line); line == "" {
		return "", errors.Join(errors.New("a token is required in --token, SLIPWAY_TOKEN or the input"), err)
	}
	return model.Secret(line), nil
}
