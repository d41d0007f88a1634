package definition_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/definition"
	"slipway/internal/model"
	"slipway/internal/wire"
)

const (
	oneKey     = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHUBFNCkJIFJy2xcBfjnFyxd0BMqmKSbt3BEW1eZYMBX one"
	anotherKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHUBFNCkJIFJy2xcBfjnFyxd0BMqmKSbt3BEW1eZYMBX two"
)

func authority(t *testing.T) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestExceptionsOfTheProxyAreStoredAsTheyWereChecked(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		"a.example.com,\nb.example.com":          "a.example.com,b.example.com",
		"a.example.com,\r\nb.example.com\r\n":    "a.example.com,b.example.com",
		"a.example.com,\tb.example.com":          "a.example.com,b.example.com",
		" a.example.com , 10.0.0.0/8,fd01::/48 ": "a.example.com,10.0.0.0/8,fd01::/48",
		"LOCALHOST,.Corp.Example.COM,FD01::/48":  "localhost,.corp.example.com,fd01::/48",
		"*\n":                                    "*",
		" \n":                                    "",
	} {
		require.Equal(t, want, defined(t, map[string]any{"no_proxy": sent}).Proxy.NoProxy, "%q", sent)
		e := model.InfraEnv{CPUArchitecture: "x86_64", ImageType: "full-iso"}
		require.NoError(t, definition.InfraEnvSettings{Proxy: &wire.Proxy{NoProxy: sent}}.Apply(&e), "%q", sent)
		require.Equal(t, want, e.Proxy.NoProxy, "%q", sent)
	}
	for _, sent := range []string{"a.example.com\nb.example.com", "a.example.com b.example.com", "a,,b", "a,\n", "*,a", "a\r\nb,c"} {
		_, err := define(t, offer(t), map[string]any{"no_proxy": sent})
		refused(t, err, "no_proxy: require domains", sent)
		err = definition.InfraEnvSettings{Proxy: &wire.Proxy{NoProxy: sent}}.Apply(&model.InfraEnv{})
		refused(t, err, "no_proxy: require domains", sent)
	}
}

func TestAddressesAndKeysAreStoredAsTheyWereChecked(t *testing.T) {
	t.Parallel()
	certificate := authority(t)
	encoded := base64.StdEncoding.EncodeToString([]byte(certificate))
	c := defined(t, map[string]any{
		"http_proxy": " http://proxy.example.com:3128/\r\n", "https_proxy": "https://proxy.example.com:3129/ ",
		"ssh_public_key": oneKey + "\r\n\r\n" + anotherKey + " \r\n", "additional_ntp_source": "192.0.2.1,\r\n\tntp.example.com\n",
		"ignition_endpoint": map[string]any{
			"url": "https://api.example.com:22623/config/worker\n", "ca_certificate": encoded[:76] + "\r\n  " + encoded[76:] + "\n",
		},
	})
	require.Equal(t, model.Proxy{HTTP: "http://proxy.example.com:3128/", HTTPS: "https://proxy.example.com:3129/"}, c.Proxy)
	require.Equal(t, oneKey+"\n"+anotherKey, c.SSHPublicKey)
	require.Equal(t, []string{"192.0.2.1", "ntp.example.com"}, c.NTPSources)
	require.Equal(t, model.IgnitionEndpoint{URL: "https://api.example.com:22623/config/worker", CACertificate: encoded}, c.IgnitionEndpoint)

	e := model.InfraEnv{CPUArchitecture: "x86_64", ImageType: "full-iso"}
	require.NoError(t, definition.InfraEnvSettings{
		SSHAuthorizedKey: ptr(oneKey + "\r" + anotherKey), TrustBundle: ptr("\r\n" + strings.ReplaceAll(certificate, "\n", " \r\n")),
		NTPSources: ptr("192.0.2.1 ,NTP.Example.com\r\n, ntp.example.com"),
	}.Apply(&e))
	require.Equal(t, oneKey+"\n"+anotherKey, e.SSHAuthorizedKey, "the second key is no comment of the first")
	require.Equal(t, certificate, e.AdditionalTrustBundle)
	require.Equal(t, []string{"192.0.2.1", "ntp.example.com"}, e.NTPSources)

	for name, fields := range map[string]map[string]any{
		"a blank in the address of a proxy":      {"http_proxy": "http://proxy.example.com/a b"},
		"a blank in the address of an endpoint":  {"ignition_endpoint": map[string]any{"url": "https://api.example.com/ config"}},
		"a line break in the address of a proxy": {"https_proxy": "http://proxy.\nexample.com"},
		"two time sources without a comma":       {"ntp_sources": "ntp1.example.com\nntp2.example.com"},
		"a blank in the address of Tang": {
			"disk_encryption": map[string]any{"tang_servers": `[{"url":"http://tang.example.com/ ","thumbprint":"PLjNyRdGw03zlRoGjQYMahSZGu9"}]`},
		},
	} {
		_, err := define(t, offer(t), fields)
		require.ErrorIs(t, err, model.ErrInvalid, name)
	}
}
