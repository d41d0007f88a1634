package spoke_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	certv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/spoke"
	"slipway/internal/model"
	"slipway/internal/platform/guard"
)

var rebooted = time.Date(2026, 11, 28, 8, 0, 0, 0, time.UTC)

// agent returns a host that joins the cluster one/lab.
func agent(name, address string) *agentinstall.Agent {
	a := &agentinstall.Agent{ObjectMeta: metav1.ObjectMeta{Name: name}}
	a.Spec.ClusterDeploymentName = &agentinstall.ClusterReference{Namespace: "one", Name: "lab"}
	a.Status.Kind, a.Status.Inventory.Hostname = "AddToExistingClusterHost", name
	a.Status.Inventory.Interfaces = []agentinstall.HostInterface{
		{IPV4Addresses: []string{address + "/24"}, IPV6Addresses: []string{"fd00::9/64"}},
	}
	a.Status.Progress = agentinstall.HostProgress{CurrentStage: "Done", StageStartTime: new(metav1.NewTime(rebooted))}
	return a
}

// requested holds the fields of a certificate request, and who asks.
type requested struct {
	user, signer, common string
	groups               []string
	names                []string
	addresses            []string
}

func (r requested) csr(t *testing.T) certv1.CertificateSigningRequest {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.CertificateRequest{Subject: pkix.Name{CommonName: r.common, Organization: []string{"system:nodes"}}, DNSNames: r.names}
	for _, address := range r.addresses {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(address))
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	require.NoError(t, err)
	use := certv1.UsageClientAuth
	if r.signer == "kubernetes.io/kubelet-serving" {
		use = certv1.UsageServerAuth
	}
	return certv1.CertificateSigningRequest{Spec: certv1.CertificateSigningRequestSpec{
		Request: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), SignerName: r.signer,
		Username: r.user, Groups: r.groups, Usages: []certv1.KeyUsage{certv1.UsageDigitalSignature, use},
	}}
}

// first returns the request for the first certificate of a node, as the machine config server's credentials let it ask.
func first(node string) requested {
	return requested{
		user:   "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper",
		signer: "kubernetes.io/kube-apiserver-client-kubelet", common: "system:node:" + node,
	}
}

func serving(node string, addresses ...string) requested {
	return requested{
		user: "system:node:" + node, groups: []string{"system:nodes"}, signer: "kubernetes.io/kubelet-serving", common: "system:node:" + node,
		names: []string{node}, addresses: addresses,
	}
}

func node(ready corev1.ConditionStatus, made time.Time) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "worker-0", CreationTimestamp: metav1.NewTime(made)},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeReady, Status: ready, LastTransitionTime: metav1.NewTime(made)},
		}},
	}
}

// Among them are attacks: every host has the bootstrap credentials.
func TestRequestsOfJoiningHostsAreEvaluated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		asks    requested
		node    *corev1.Node
		change  func(*agentinstall.Agent)
		kind    string // empty: the request is left alone
		refusal string
	}{
		"its first certificate":     {asks: first("worker-0"), kind: "client"},
		"its serving certificate":   {asks: serving("worker-0", "192.0.2.20", "fd00::9"), kind: "serving"},
		"of another host":           {asks: first("worker-1")},
		"of a host that is unknown": {asks: first("worker-9")},
		"in another name":           {asks: requested{user: "eve", signer: first("").signer, common: "system:node:worker-0"}},
		"of another signer":         {asks: requested{user: "eve", signer: "example.com/a", common: "system:node:worker-0"}},
		"a name in its spec":        {asks: first("named"), change: func(a *agentinstall.Agent) { a.Spec.Hostname = "Named" }, kind: "client"},
		"the former name of that":   {asks: first("worker-0"), change: func(a *agentinstall.Agent) { a.Spec.Hostname = "named" }},
		"while its node is ready": {
			first("worker-0"), node("True", rebooted), nil, "client", "require a node that is not ready yet, found worker-0 ready",
		},
		"when it is installed again": {asks: first("worker-0"), node: node("Unknown", rebooted.Add(-time.Hour)), kind: "client"},
		"a node that came after it": {
			first("worker-0"), node("False", rebooted.Add(time.Minute)), nil, "client",
			"require no node of that name, found worker-0 since 2026-11-28T08:01:00Z",
		},
		"an address of another host": {
			serving("worker-0", "192.0.2.21"), nil, nil, "serving", "require addresses of host worker-0, found 192.0.2.21",
		},
		"an address that both have": {
			serving("worker-0", "192.0.2.20"), nil,
			func(a *agentinstall.Agent) {
				a.Status.Inventory.Interfaces[0].IPV4Addresses = []string{"192.0.2.20/24", "192.0.2.21/24"}
			},
			"serving", "",
		},
		"an address that both claim": {
			serving("worker-0", "192.0.2.21"), nil,
			func(a *agentinstall.Agent) {
				a.Status.Inventory.Interfaces[0].IPV4Addresses = []string{"192.0.2.20/24", "192.0.2.21/24"}
			},
			"serving", "require addresses that host worker-0 alone has, found 192.0.2.21, which also belongs to host worker-1",
		},
		"the address of the API": {
			serving("worker-0", "192.0.2.5"), nil,
			func(a *agentinstall.Agent) { a.Status.Inventory.Interfaces[0].IPV4Addresses = []string{"192.0.2.5/24"} },
			"serving", "require addresses that host worker-0 alone has, found 192.0.2.5, which also belongs to the cluster",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := agent("worker-1", "192.0.2.21")
			other.Status.Inventory.Interfaces[0].IPV6Addresses = nil
			in := spoke.Inputs{
				Agent: agent("worker-0", "192.0.2.20"), Others: []agentinstall.Agent{*other}, VIPs: []string{"192.0.2.5"}, Node: c.node,
				Requests: []certv1.CertificateSigningRequest{c.asks.csr(t)},
			}
			if c.change != nil {
				c.change(in.Agent)
			}
			verdicts := spoke.Evaluate(in)
			if c.kind == "" {
				require.Empty(t, verdicts)
				return
			}
			require.Len(t, verdicts, 1)
			require.Equal(t, c.kind, verdicts[0].Type)
			if c.refusal == "" {
				require.NoError(t, verdicts[0].Refusal)
			} else {
				require.EqualError(t, verdicts[0].Refusal, c.refusal)
			}
			in.Requests[0].Status.Conditions = []certv1.CertificateSigningRequestCondition{{Type: certv1.CertificateDenied}}
			require.Empty(t, spoke.Evaluate(in), "it was answered")
		})
	}
}

func TestClustersAreLookedAtUntilTheHostIsANode(t *testing.T) {
	t.Parallel()
	expected := agent("worker-0", "192.0.2.20")
	for name, c := range map[string]struct {
		change func(*agentinstall.Agent)
		node   *corev1.Node
		after  time.Duration
		next   time.Duration
	}{
		"at once":              {after: time.Minute, next: 15 * time.Second},
		"a slow boot":          {after: 2 * time.Hour, next: 5 * time.Minute},
		"one that never comes": {after: 25 * time.Hour},
		"a node":               {node: node("False", rebooted), after: time.Minute, next: 15 * time.Second},
		"without its serving":  {node: node("True", rebooted), after: time.Minute, next: 15 * time.Second},
		"approved by others":   {node: node("True", rebooted), after: 11 * time.Minute},
		"with its serving": {func(a *agentinstall.Agent) {
			a.Status.CSRStatus.ApprovedCSRs = []agentinstall.CSRInfo{{Type: "serving"}}
		}, node("True", rebooted), time.Minute, 0},
		"a host of the install": {change: func(a *agentinstall.Agent) { a.Status.Kind = "Host" }},
		"before its reboot":     {change: func(a *agentinstall.Agent) { a.Status.Progress.CurrentStage = "Installing" }},
		"taken out":             {change: func(a *agentinstall.Agent) { a.Spec.ClusterDeploymentName = nil }},
		"deleted":               {change: func(a *agentinstall.Agent) { a.DeletionTimestamp = new(metav1.NewTime(rebooted)) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := expected.DeepCopy()
			if c.change != nil {
				c.change(a)
			}
			require.Equal(t, c.next, spoke.Next(spoke.Inputs{Agent: a, Node: c.node}, rebooted.Add(c.after)))
		})
	}
}

// A kubeconfig in a Secret is a user's: nothing in it runs or is read here.
func TestKubeconfigsRunNothing(t *testing.T) {
	t.Parallel()
	const begin = "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n"
	const cluster = "clusters: [{name: a, cluster: {server: 'https://a.example.com'}}]\n"
	for text, want := range map[string]string{
		cluster + "users: [{name: a, user: {token: t}}]":                                                         "",
		cluster + "users: [{name: a, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: sh}}}]": "found a program or a file",
		cluster + "users: [{name: a, user: {auth-provider: {name: a}}}]":                                         "found a program or a file",
		cluster + "users: [{name: a, user: {tokenFile: /a}}]":                                                    "found a program or a file",
		cluster + "users: [{name: a, user: {client-certificate: /a, client-key: /b}}]":                           "found a program or a file",
		"clusters: [{name: a, cluster: {server: 'https://a', certificate-authority: /a}}]\n":                     "found a file",
		"[": "yaml",
	} {
		config, err := spoke.Access([]byte(begin+text), guard.Outbound{})
		if want == "" {
			require.NoError(t, err)
			require.Equal(t, "https://a.example.com", config.Host)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}

// Attack: a kubeconfig, or its proxy, leads the controllers to services of their machine, which answer in the status of an Agent.
func TestKubeconfigsLeadToNoServiceOfThisMachine(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	inner := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(inner.Close)
	own, err := guard.OwnAddresses()
	require.NoError(t, err)
	here := inner.Listener.Addr().String()
	ask := func(o guard.Outbound, server, proxy string) error {
		text := "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\nusers: [{name: a}]\n" +
			"clusters: [{name: a, cluster: {insecure-skip-tls-verify: true, server: '" + server + "', proxy-url: '" + proxy + "'}}]\n"
		config, err := spoke.Access([]byte(text), o)
		require.NoError(t, err)
		carrier, err := rest.HTTPClientFor(config)
		require.NoError(t, err)
		defer carrier.CloseIdleConnections()
		answer, err := carrier.Get(config.Host + "/api")
		if err == nil {
			_ = answer.Body.Close()
		}
		return err
	}
	servers := []string{"https://" + here, "https://169.254.169.254", "https://[64:ff9b::127.0.0.1]:443"}
	for _, a := range own {
		servers = append(servers, "https://"+net.JoinHostPort(a.WithZone("").String(), "1"))
	}
	for _, server := range servers {
		require.ErrorIs(t, ask(guard.Outbound{}, server, ""), model.ErrUnprocessable, server)
	}
	require.ErrorIs(t, ask(guard.Outbound{}, "https://api.example.invalid", "http://"+here), model.ErrUnprocessable, "a proxy")
	require.ErrorIs(t, ask(guard.Outbound{}, "https://api.example.invalid", "socks5://"+here), model.ErrUnprocessable, "a proxy")
	near := guard.Outbound{Hosts: []string{"127.0.0.1:3128"}}
	require.ErrorIs(t, ask(near, "https://"+here, "http://127.0.0.1:3128"), model.ErrUnprocessable, "by a proxy of the environment")
	require.Zero(t, asked.Load())
	require.NoError(t, ask(guard.Outbound{Hosts: []string{here}}, "https://"+here, ""), "the administrator named it")
	require.EqualValues(t, 1, asked.Load())
}
