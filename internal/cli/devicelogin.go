package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// signInAtIssuer has the user sign in with any browser (RFC 8628), and returns a token of the service.
func (k *LoginCommand) signInAtIssuer(ctx context.Context, t *Terminal, at wire.SignInAt, options client.Options) (model.Secret, error) {
	if !strings.HasPrefix(at.Issuer, "https://") {
		return "", fmt.Errorf("require an issuer with an address https://..., found %q", at.Issuer)
	}
	carrier, err := k.issuerCarrier()
	if err != nil {
		return "", err
	}
	ctx = oidc.ClientContext(ctx, carrier)
	issuer, err := oidc.NewProvider(ctx, at.Issuer)
	if err != nil {
		return "", fmt.Errorf("read the configuration of the issuer %s: %w", at.Issuer, err)
	}
	config := oauth2.Config{ClientID: at.ClientID, Endpoint: issuer.Endpoint(), Scopes: at.Scopes}
	if config.Endpoint.DeviceAuthURL == "" {
		return "", fmt.Errorf("the issuer %s has no sign-in for devices: use --token", at.Issuer)
	}
	code, err := config.DeviceAuth(ctx)
	if err != nil {
		return "", fmt.Errorf("begin a sign-in at %s: %w", at.Issuer, err)
	}
	t.note("open %s in a browser, and enter the code %s", code.VerificationURI, code.UserCode)
	if code.VerificationURIComplete != "" {
		t.note("or open %s", code.VerificationURIComplete)
	}
	answer, err := config.DeviceAccessToken(ctx, code)
	if err != nil {
		return "", fmt.Errorf("sign in at %s: %w", at.Issuer, err)
	}
	identity, _ := answer.Extra("id_token").(string)
	if identity == "" {
		return "", fmt.Errorf("sign in at %s: the answer has no id_token (scope openid)", at.Issuer)
	}
	options.UserToken = model.Secret(identity)
	token, err := client.New(options).SignIn(ctx)
	if err != nil {
		return "", failed(options.BaseURL, "log in", err)
	}
	return model.Secret(token.Token), nil
}

// issuerCarrier trusts the system, and --issuer-ca-file.
func (k *LoginCommand) issuerCarrier() (*http.Client, error) {
	if k.IssuerCA == "" {
		return http.DefaultClient, nil
	}
	content, err := os.ReadFile(k.IssuerCA)
	if err != nil {
		return nil, fmt.Errorf("read --issuer-ca-file: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("read the authorities of the system: %w", err)
	}
	if !pool.AppendCertsFromPEM(content) {
		return nil, errors.New("read --issuer-ca-file: no PEM certificate found")
	}
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
	}}, nil
}
