package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
)

func TestExceptionsOfAProxyAreReadAsOlderVersionsStoredThem(t *testing.T) {
	t.Parallel()
	for stored, want := range map[string]string{
		"":                                       "",
		"*":                                      "*",
		"*\n":                                    "*",
		"a.example.com,\nb.example.com":          "a.example.com,b.example.com",
		"a.example.com,\r\nb.example.com\r\n":    "a.example.com,b.example.com",
		"LOCALHOST,.Corp.Example.COM":            "localhost,.corp.example.com",
		"\ta.example.com ,\t10.0.0.0/8":          "a.example.com,10.0.0.0/8",
		".example.com,10.0.0.0/8,.Example.com":   ".example.com,10.0.0.0/8",
		"fd01::/48,FD01:0::/48,192.0.2.0/24":     "fd01::/48,192.0.2.0/24",
		"10.128.0.1/14,10.128.0.0/14,10.128.0.0": "10.128.0.1/14,10.128.0.0",
		"2001:db8::1,2001:DB8:0::1,[2001:db8::1]": "2001:db8::1,[2001:db8::1]",
	} {
		require.Equal(t, want, model.Proxy{NoProxy: stored}.ExceptionList(), "%q", stored)
	}
}

func TestKeysAndCertificatesAreReadAsOlderVersionsStoredThem(t *testing.T) {
	t.Parallel()
	c := model.Cluster{SSHPublicKey: "ssh-rsa AAAA one\r\n\r\n ssh-rsa BBBB two\t"}
	require.Equal(t, "ssh-rsa AAAA one\nssh-rsa BBBB two", c.SSHKeys())
	e := model.InfraEnv{
		SSHAuthorizedKey: "ssh-rsa AAAA one\rssh-rsa BBBB two", AdditionalTrustBundle: "\r\n-----BEGIN\r\nMII=  \r\n-----END\r\n",
	}
	require.Equal(t, "ssh-rsa AAAA one\nssh-rsa BBBB two", e.SSHKeys())
	require.Equal(t, "-----BEGIN\nMII=\n-----END\n", e.TrustBundle())
	require.Equal(t, "QUJDREVG", model.IgnitionEndpoint{CACertificate: "QUJD\r\n REVG\n"}.Authority())
}
