package document_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/duesteps"
	"slipway/internal/hostconfig/ignition"
	"slipway/internal/model"
	"slipway/internal/wire"
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

func in64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// trusting makes an override with authorities at sources.
func trusting(t *testing.T, sources ...string) string {
	t.Helper()
	list := []map[string]string{}
	for _, s := range sources {
		list = append(list, map[string]string{"source": s})
	}
	out, err := json.Marshal(map[string]any{"ignition": map[string]any{
		"version": "3.2.0", "security": map[string]any{"tls": map[string]any{"certificateAuthorities": list}},
	}})
	require.NoError(t, err)
	return string(out)
}

// The step that asks for a configuration and the pointer to it agree: with an authority they use TLS.
func TestHostsGetTheirConfigurationOverTLSWhereAnAuthorityIsKnown(t *testing.T) {
	t.Parallel()
	a, b := authority(t), authority(t)
	const (
		plain = "http://api.d2.example.com:22624/config/worker"
		tls   = "https://api-int.d2.example.com:22623/config/worker"
		data  = "data:text/plain;charset=utf-8;base64,"
	)
	for name, c := range map[string]struct {
		cluster, override, api, endpoint string
		url, trusts                      string
	}{
		"nothing":                           {url: plain},
		"the cluster's":                     {cluster: a, url: tls, trusts: a},
		"the host's, in base64":             {override: trusting(t, data+in64(b)), url: tls, trusts: b},
		"the host's, as text":               {override: trusting(t, "data:,"+url.PathEscape(b)), url: tls, trusts: b},
		"several of the host":               {override: trusting(t, data+in64(b), data+in64(a)), url: tls, trusts: b + a},
		"both":                              {cluster: a, override: trusting(t, data+in64(b)), url: tls, trusts: a + b},
		"one of both twice":                 {cluster: a + b, override: trusting(t, data+in64(b)), url: tls, trusts: a + b},
		"an address, which only hosts read": {override: trusting(t, "https://ca.example.com/b.pem"), url: plain},
		"no certificate":                    {override: trusting(t, data+in64("hello")), url: plain},
		"an override of something else":     {override: `{"ignition":{"version":"3.2.0"}}`, url: plain},
		"an endpoint of its own": {
			endpoint: "https://x.example.com/c", cluster: a, override: trusting(t, data+in64(b)),
			url: "https://x.example.com/c/worker", trusts: a + b,
		},
		"an endpoint and the host's": {
			endpoint: "http://x.example.com/c", override: trusting(t, data+in64(b)),
			url: "http://x.example.com/c/worker", trusts: b,
		},
		"a name that is not an API's": {
			api: "cluster.example.com", cluster: a, url: "https://cluster.example.com:22623/config/worker", trusts: a,
		},
		"a name in capitals":                {api: "API.D2.Example.com", cluster: a, url: tls, trusts: a},
		"the internal name":                 {api: "api-int.d2.example.com", cluster: a, url: tls, trusts: a},
		"an IPv6 address as name":           {api: "2001:db8::5", cluster: a, url: "https://[2001:db8::5]:22623/config/worker", trusts: a},
		"an address as name":                {api: "192.0.2.5", cluster: a, url: "https://192.0.2.5:22623/config/worker", trusts: a},
		"another name without an authority": {api: "cluster.example.com", url: "http://cluster.example.com:22624/config/worker"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := &model.Cluster{Kind: model.KindAddHostsCluster, APIVIPDNSName: "api.d2.example.com"}
			if c.api != "" {
				cluster.APIVIPDNSName = c.api
			}
			cluster.IgnitionEndpoint = model.IgnitionEndpoint{URL: c.endpoint, CACertificate: in64(c.cluster)}
			host := &model.Host{
				Kind: model.KindAddToExistingClusterHost, Role: model.RoleWorker, RequestedHostname: "w", IgnitionConfigOverrides: c.override,
			}
			args, err := duesteps.Args(wire.StepTypeAPIVipConnectivityCheck, duesteps.ArgsInput{Host: host, Cluster: cluster})
			require.NoError(t, err)
			var request wire.APIVipConnectivityRequest
			require.NoError(t, json.Unmarshal([]byte(args[0]), &request))
			require.Equal(t, c.url, request.URL)
			trusts, err := base64.StdEncoding.DecodeString(request.CaCertificate)
			require.NoError(t, err)
			require.Equal(t, c.trusts, string(trusts))

			pointer, err := ignition.DayTwo(cluster, host)
			require.NoError(t, err)
			require.Contains(t, string(pointer), fmt.Sprintf(`"merge":[{"source":%q`, c.url))
		})
	}
}
