package cluster_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
)

// The other side of a gap: a network that the machines have no route to.
const (
	beyond     = "10.89.0.2" // also the mirror
	mirrorHost = beyond + ":5000"
	proxyPort  = "3128"
	proxyURL   = "http://" + gateway + ":" + proxyPort
	noProxy    = "10.88.0.0/24,." + domain
)

// The registry that releases are named by, which no machine of the bench reaches, and who may read its mirror.
const (
	source         = "quay.io"
	sourceReleases = source + "/openshift-release-dev"
	mirrorUser     = "reader"
	mirrorPassword = "of-the-mirror"
)

// firewall lets machines reach nothing but the services of their own network: names, addresses, time, Slipway, the
// programs of the bench, and the proxy. What else they ask for goes into a set with counters, and is dropped.
const firewall = `table inet gap {
  counter elsewhere { }
  set asked { type ipv4_addr . inet_proto . inet_service; flags dynamic; size 4096; counter; }
  chain prerouting {
    type filter hook prerouting priority 0; policy accept;
    iifname != "br0" accept
    ct state established,related accept
    meta nfproto ipv6 accept comment "link-local only: the gateway has no other address"
    ip daddr 10.88.0.0/24 ip daddr != ` + gateway + ` accept comment "bridged: other machines, where frames pass here at all"
    ip daddr { 255.255.255.255, 10.88.0.255, 224.0.0.0/4 } accept
    ip daddr ` + gateway + ` meta l4proto icmp accept
    ip daddr ` + gateway + ` udp dport { 53, 67, 123 } accept
    ip daddr ` + gateway + ` tcp dport { 53, ` + proxyPort + `, ` + payloadPort + `, ` + servicePort + ` } accept
    counter name elsewhere update @asked { ip daddr . meta l4proto . th dport } drop
  }
}
`

// gap stands between the machines and everything else.
type gap struct {
	site      *site
	authority string // of the mirror, PEM
	mirror    *log   // paths that were asked of the mirror, by whom
	proxied   *log   // what was asked of the proxy
	refused   *log   // and what of that was no mirror
}

// newGap cuts the network of the site off, but for a proxy that leads to a mirror with an authority of its own.
func newGap(t *testing.T, l *site) *gap {
	t.Helper()
	g := &gap{site: l, mirror: &log{}, proxied: &log{}, refused: &log{}}
	require.NoError(t, l.IP("addr", "add", beyond+"/32", "dev", "lo"))
	rules := filepath.Join(l.dir, "firewall.nft")
	require.NoError(t, os.WriteFile(rules, []byte(firewall), 0o600))
	g.run(t, "sysctl", "--quiet", "--write", "net.ipv4.ip_forward=1") // the firewall refuses, not a missing route
	g.run(t, "nft", "--file", rules)
	g.serveProxy(t)
	return g
}

// run runs a command in the namespace.
func (g *gap) run(t *testing.T, command ...string) string {
	t.Helper()
	out, err := exec.Command("ip", append([]string{"netns", "exec", g.site.Name}, command...)...).CombinedOutput()
	require.NoError(t, err, "%s: %s", strings.Join(command, " "), out)
	return string(out)
}

// serveMirror serves a registry, which has the names of the source, with TLS and below /ocp.
func (g *gap) serveMirror(t *testing.T, registry string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	self := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mirror of the site"}, IPAddresses: []net.IP{net.ParseIP(beyond)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, self, self, key.Public(), key)
	require.NoError(t, err)
	g.authority = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	behind := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: registry})
	behind.Transport = &http.Transport{DialContext: g.site.Dial}
	server := &http.Server{
		ReadHeaderTimeout: time.Minute,
		TLSConfig: &tls.Config{
			Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12,
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			g.mirror.add(r.Method + " " + r.URL.Path)
			path, ok := strings.CutPrefix(r.URL.Path, "/v2/ocp/")
			if ok {
				r.URL.Path = "/v2/openshift-release-dev/" + path
			} else if r.URL.Path != "/v2/" {
				http.NotFound(w, r)
				return
			}
			behind.ServeHTTP(w, r)
		}),
	}
	listener := g.site.Listen(t, "tcp", mirrorHost)
	go server.ServeTLS(listener, "", "")
	t.Cleanup(func() { _ = server.Close() })
}

// settings makes the environment of a service whose hosts and clusters use the mirror.
func (g *gap) settings(t *testing.T) []string {
	t.Helper()
	registries, authority := filepath.Join(g.site.dir, "registries.conf"), filepath.Join(g.site.dir, "mirror.pem")
	conf := fmt.Sprintf("[[registry]]\nprefix = %q\nlocation = %[1]q\n[[registry.mirror]]\nlocation = %q\n", sourceReleases, mirrorHost+"/ocp")
	require.NoError(t, os.WriteFile(registries, []byte(conf), 0o600))
	require.NoError(t, os.WriteFile(authority, []byte(g.authority), 0o600))
	return []string{"SLIPWAY_MIRROR_REGISTRIES=" + registries, "SLIPWAY_MIRROR_CA=" + authority}
}

// prove shows that an installation used the proxy and the mirror, and asked for nothing else.
func (g *gap) prove(t *testing.T) {
	t.Helper()
	fmt.Println("$ nft list table inet gap\n" + g.run(t, "nft", "list", "table", "inet", "gap"))
	fmt.Printf("asked of the proxy: %s\n", g.proxied)
	fmt.Printf("asked of the mirror, by the service and by machines: %s\n", g.mirror)
	require.Contains(t, g.run(t, "nft", "list", "counter", "inet", "gap", "elsewhere"), "packets 0 bytes 0")
	require.Empty(t, g.refused.all(), "the proxy leads to the mirror only")
	require.NotEmpty(t, g.proxied.all(), "machines pull through the proxy")
	require.NotEmpty(t, g.mirror.all())
}

// proxy returns the proxy of clusters and InfraEnvs.
func (g *gap) proxy() wire.Proxy {
	return wire.Proxy{HTTPProxy: proxyURL, HTTPSProxy: proxyURL, NoProxy: noProxy}
}
