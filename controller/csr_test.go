package controller_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	certv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"slipway/controller"
	"slipway/internal/model"
	"slipway/internal/sim/kubeapi"
	"slipway/internal/wire"
)

// asked holds the fields of a certificate request, and who asks.
type asked struct {
	user   string
	groups []string
	signer string
	cn     string
	orgs   []string
	usages []certv1.KeyUsage
	dns    []string
	ips    []string
	emails []string
	pem    string // block type
}

func clientAsked(node string) asked {
	return asked{
		user: kubeapi.UserNodeBootstrapper, signer: certv1.KubeAPIServerClientKubeletSignerName,
		cn: "system:node:" + node, orgs: []string{"system:nodes"},
		usages: []certv1.KeyUsage{certv1.UsageDigitalSignature, certv1.UsageClientAuth},
		pem:    "CERTIFICATE REQUEST",
	}
}

func servingAsked(node string, ips ...string) asked {
	return asked{
		user: "system:node:" + node, groups: []string{"system:nodes"}, signer: certv1.KubeletServingSignerName,
		cn: "system:node:" + node, orgs: []string{"system:nodes"},
		usages: []certv1.KeyUsage{certv1.UsageDigitalSignature, certv1.UsageServerAuth},
		dns:    []string{node}, ips: ips,
		pem: "CERTIFICATE REQUEST",
	}
}

func (a asked) csr(t *testing.T, name string) *certv1.CertificateSigningRequest {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: a.cn, Organization: a.orgs}, DNSNames: a.dns, EmailAddresses: a.emails,
	}
	for _, ip := range a.ips {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(ip))
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	require.NoError(t, err)
	return &certv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: "uid"},
		Spec: certv1.CertificateSigningRequestSpec{
			Request: pem.EncodeToMemory(&pem.Block{Type: a.pem, Bytes: der}), SignerName: a.signer,
			Usages: a.usages, Username: a.user, Groups: a.groups,
		},
	}
}

// rebooted is when worker-5 began its first boot.
var rebooted = time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)

// Among them are attacks: bootstrap credentials ask for another node, or for the address of another host.
func TestRequestsAreApprovedOnlyForHosts(t *testing.T) {
	t.Parallel()
	hosts := []controller.Host{
		{
			Name: "worker-0", Status: model.HostInstallingInProgress, Stage: model.StageConfiguring,
			Addresses: []netip.Addr{
				netip.MustParseAddr("192.168.1.20"), netip.MustParseAddr("fd00::20"), netip.MustParseAddr("192.168.1.22"),
				netip.MustParseAddr("192.168.1.5"), // the virtual one of the API, as it says
			},
		},
		{
			Name: "worker-1", Status: model.HostInstallingInProgress, Stage: model.StageConfiguring,
			Addresses: []netip.Addr{netip.MustParseAddr("192.168.1.21"), netip.MustParseAddr("192.168.1.22")},
		},
		{Name: "worker-2", Status: model.HostError, Stage: model.StageRebooting},
		{Name: "worker-3", Status: model.HostInstallingInProgress, Stage: model.StageWritingImageToDisk},
		{Name: "worker-4", Status: model.HostInstalled, Stage: model.StageDone},
		{Name: "worker-5", Status: model.HostInstallingInProgress, Stage: model.StageRebooting, StageSince: rebooted},
	}
	made := func(name string, ready corev1.ConditionStatus, at time.Time) corev1.Node {
		n := node(name, ready)
		n.CreationTimestamp = metav1.NewTime(at)
		return n
	}
	client := func(change func(*asked)) asked { a := clientAsked("worker-0"); change(&a); return a }
	serving := func(change func(*asked)) asked { a := servingAsked("worker-0", "192.168.1.20"); change(&a); return a }
	keep := func(*asked) {}
	for name, tc := range map[string]struct {
		asked  asked
		reason string // empty: approved
		nodes  []corev1.Node
	}{
		"approves the client certificate of a host": {asked: client(keep)},
		"approves it for a bootstrap token": {asked: client(func(a *asked) {
			a.user, a.groups = "system:bootstrap:abcdef", []string{"system:bootstrappers"}
		})},
		"approves it with key encipherment": {
			asked: client(func(a *asked) { a.usages = append(a.usages, certv1.UsageKeyEncipherment) }),
		},
		"approves it for a host that is installed again": {
			asked: clientAsked("worker-5"), nodes: []corev1.Node{made("worker-5", corev1.ConditionUnknown, rebooted.Add(-time.Hour))},
		},
		"refuses it while its node is not ready": {
			asked: client(keep), nodes: []corev1.Node{made("worker-0", corev1.ConditionFalse, rebooted.Add(-time.Hour))},
			reason: "require no node of that name, found worker-0 since 2026-11-23T07:00:00Z",
		},
		"refuses it for a node that came after the reboot": {
			asked: clientAsked("worker-5"), nodes: []corev1.Node{made("worker-5", corev1.ConditionFalse, rebooted.Add(time.Minute))},
			reason: "require no node of that name, found worker-5 since 2026-11-23T08:01:00Z",
		},
		"refuses it for a host that failed": {
			asked: clientAsked("worker-2"), reason: "require a host that is being installed, found worker-2 in status error",
		},
		"refuses it before the host has rebooted": {
			asked:  clientAsked("worker-3"),
			reason: `require a host between Rebooting and Joined, found worker-3 in stage "Writing image to disk"`,
		},
		"refuses it after the host has joined": {
			asked: clientAsked("worker-4"), reason: `require a host between Rebooting and Joined, found worker-4 in stage "Done"`,
		},
		"refuses an address that another host claims too": {
			asked:  serving(func(a *asked) { a.ips = []string{"192.168.1.22"} }),
			reason: "require addresses that host worker-0 alone has, found 192.168.1.22, which also belongs to host worker-1",
		},
		"refuses the address of the API": {
			asked:  serving(func(a *asked) { a.ips = []string{"192.168.1.5"} }),
			reason: "require addresses that host worker-0 alone has, found 192.168.1.5, which also belongs to the cluster",
		},
		"approves the serving certificate of a host": {asked: serving(keep)},
		"approves it with some of the addresses": {
			asked: serving(func(a *asked) { a.ips, a.dns = []string{"fd00::20"}, nil }),
		},
		"approves it while its node is ready": {
			asked: serving(keep),
			nodes: []corev1.Node{node("worker-0", corev1.ConditionTrue)},
		},
		"refuses a name that is no host": {
			asked:  clientAsked("worker-9"),
			reason: `require a host of this cluster, found "worker-9"`,
		},
		"refuses a name in upper case": {
			asked:  clientAsked("WORKER-0"),
			reason: `require a host of this cluster, found "WORKER-0"`,
		},
		"refuses an unknown name": {
			asked:  clientAsked(""),
			reason: `require a host of this cluster, found ""`,
		},
		"refuses a common name that is not a node's": {
			asked:  client(func(a *asked) { a.cn = "worker-0" }),
			reason: `require the common name of a node, found "worker-0"`,
		},
		"refuses another organization": {
			asked:  client(func(a *asked) { a.orgs = []string{"system:masters"} }),
			reason: `require organization system:nodes alone, found ["system:masters"]`,
		},
		"refuses a second organization": {
			asked:  client(func(a *asked) { a.orgs = append(a.orgs, "system:masters") }),
			reason: `require organization system:nodes alone, found ["system:nodes" "system:masters"]`,
		},
		"refuses a client request of another user": {
			asked:  client(func(a *asked) { a.user = "alice" }),
			reason: "require a node bootstrapper to ask, found alice",
		},
		"refuses a bootstrap name without its group": {
			asked:  client(func(a *asked) { a.user = "system:bootstrap:abcdef" }),
			reason: "require a node bootstrapper to ask, found system:bootstrap:abcdef",
		},
		"refuses other usages": {
			asked:  client(func(a *asked) { a.usages = append(a.usages, certv1.UsageServerAuth) }),
			reason: "require no other usages than [client auth digital signature key encipherment], found server auth",
		},
		"refuses missing usages": {
			asked:  client(func(a *asked) { a.usages = a.usages[:1] }),
			reason: "require usage client auth, found [digital signature]",
		},
		"refuses alternative names in a client request": {
			asked:  client(func(a *asked) { a.dns = []string{"worker-0"} }),
			reason: "require no alternative names in a client certificate, found 1",
		},
		"refuses the client request of a node that is up": {
			asked:  client(keep),
			nodes:  []corev1.Node{node("worker-0", corev1.ConditionTrue)},
			reason: "require a node that is not ready yet, found worker-0 ready",
		},
		"refuses another signer": {
			asked:  client(func(a *asked) { a.signer = certv1.KubeAPIServerClientSignerName }),
			reason: "require a signer for kubelets, found kubernetes.io/kube-apiserver-client",
		},
		"refuses the serving request of another node": {
			asked:  serving(func(a *asked) { a.user = "system:node:worker-1" }),
			reason: "require node system:node:worker-0 itself to ask, found system:node:worker-1",
		},
		"refuses a node's name without its group": {
			asked:  serving(func(a *asked) { a.groups = nil }),
			reason: "require node system:node:worker-0 itself to ask, found system:node:worker-0",
		},
		"refuses the name of another host": {
			asked:  serving(func(a *asked) { a.dns = append(a.dns, "api.example.com") }),
			reason: "require the host's own name worker-0, found api.example.com",
		},
		"refuses the address of another host": {
			asked:  serving(func(a *asked) { a.ips = append(a.ips, "192.168.1.21") }),
			reason: "require addresses of host worker-0, found 192.168.1.21",
		},
		"refuses e-mail addresses": {
			asked:  serving(func(a *asked) { a.emails = []string{"a@example.com"} }),
			reason: "must not contain e-mail addresses or URIs",
		},
		"refuses a serving request without names": {
			asked:  serving(func(a *asked) { a.dns, a.ips = nil, nil }),
			reason: "a name or an address is required",
		},
		"refuses what is no request": {
			asked:  client(func(a *asked) { a.pem = "CERTIFICATE" }),
			reason: "require exactly one PEM certificate request",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			csr := tc.asked.csr(t, "csr-1")
			got := controller.Missing(controller.State{
				Announced: true, Nodes: tc.nodes,
				Cluster: controller.Cluster{Hosts: hosts, VIPs: []netip.Addr{netip.MustParseAddr("192.168.1.5")}},
				CSRs:    []certv1.CertificateSigningRequest{*csr},
			})
			want := []controller.Action{controller.ApproveCSR{CSR: csr}}
			if tc.reason != "" {
				want = []controller.Action{controller.LeavePending{CSR: "csr-1", UID: "uid", Reason: tc.reason, Requester: tc.asked.user}}
			}
			require.Equal(t, want, slices.DeleteFunc(got.Duties, func(a controller.Action) bool {
				_, report := a.(controller.ReportHost)
				return report
			}))
		})
	}
}

func TestRequestsOfOthersAreNotJudged(t *testing.T) {
	t.Parallel()
	foreign := clientAsked("worker-0")
	foreign.user, foreign.signer = "system:serviceaccount:openshift-monitoring:prometheus", "example.com/signer"
	answered := clientAsked("worker-0").csr(t, "answered")
	answered.Status.Conditions = []certv1.CertificateSigningRequestCondition{{Type: certv1.CertificateDenied}}
	require.Empty(t, controller.Missing(controller.State{
		Announced: true, CSRs: []certv1.CertificateSigningRequest{*foreign.csr(t, "foreign"), *answered},
	}))
}

// Every node of a cluster with OVN-Kubernetes makes the first two (page "node identity" of ovn-kubernetes; multus by
// cluster-network-operator, additional-cert-acceptance-cond.json), and they renew them under their own names.
func TestRequestsOfTheNetworkAndRenewalsAreLeftToOthers(t *testing.T) {
	t.Parallel()
	network := func(name, cn, org, user string, groups ...string) *certv1.CertificateSigningRequest {
		return asked{
			user: user, groups: append(groups, "system:authenticated"), signer: certv1.KubeAPIServerClientSignerName, cn: cn, orgs: []string{org},
			usages: []certv1.KeyUsage{certv1.UsageDigitalSignature, certv1.UsageKeyEncipherment, certv1.UsageClientAuth},
			pem:    "CERTIFICATE REQUEST",
		}.csr(t, name)
	}
	renewal := clientAsked("worker-0")
	renewal.user, renewal.groups = "system:node:worker-0", []string{"system:nodes", "system:authenticated"}
	impostor := renewal
	impostor.user = "system:node:worker-1"
	got := controller.Missing(controller.State{
		Announced: true,
		Nodes:     []corev1.Node{node("worker-0", corev1.ConditionTrue)},
		Cluster:   controller.Cluster{Hosts: []controller.Host{}},
		CSRs: []certv1.CertificateSigningRequest{
			*network("ovn", "system:ovn-node:worker-0", "system:ovn-nodes", "system:node:worker-0", "system:nodes"),
			*network("multus", "system:multus:worker-0", "system:multus", "system:node:worker-0", "system:nodes"),
			*network("ovn-renewed", "system:ovn-node:worker-0", "system:ovn-nodes", "system:ovn-node:worker-0", "system:ovn-nodes"),
			*network("multus-renewed", "system:multus:worker-0", "system:multus", "system:multus:worker-0", "system:multus"),
			*renewal.csr(t, "renewal"), *impostor.csr(t, "impostor"),
		},
	})
	require.Equal(t, []controller.Action{controller.LeavePending{
		CSR: "impostor", UID: "uid", Requester: "system:node:worker-1",
		Reason: "require a node bootstrapper to ask, found system:node:worker-1",
	}}, got.Duties)
}

func TestRogueRequestsStayPending(t *testing.T) {
	t.Parallel()
	s := newService(t, host(t, "sno", "192.168.1.10/24", "192.168.1.11/24"), host(t, "worker-0", "192.168.1.20/24"))
	b := newBench(t, s)
	rogues := map[string]asked{
		"wrong-name": clientAsked("intruder"), "wrong-user": clientAsked("sno"), "wrong-signer": clientAsked("sno"),
		"extra-name": servingAsked("sno", "192.168.1.10"), "other-address": servingAsked("sno", "192.168.1.10", "192.168.1.20"),
	}
	b.grantTo("default", rbacv1.PolicyRule{
		APIGroups: []string{"certificates.k8s.io"}, Resources: []string{"certificatesigningrequests"}, Verbs: []string{"create"},
	})
	for name, a := range rogues {
		switch name {
		case "wrong-user":
			a.user = "system:serviceaccount:default:default"
		case "wrong-signer":
			a.signer = certv1.KubeAPIServerClientSignerName
		case "extra-name":
			a.dns = append(a.dns, "api.test.example.com")
		}
		as, err := kubernetes.NewForConfig(kubeapi.Config(b.url, a.user))
		require.NoError(t, err)
		_, err = as.CertificatesV1().CertificateSigningRequests().Create(b.ctx, a.csr(t, name), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	b.join("sno", "192.168.1.10", "master")
	b.join("worker-0", "192.168.1.20", "worker")
	b.rollOut(1)
	require.NoError(t, controller.Run(b.ctx, b.options))

	var reported []string
	for _, e := range s.named("certificate_request_not_approved") {
		reported = append(reported, e.Message)
	}
	require.Contains(t, strings.Join(reported, "\n"), "oc adm certificate approve other-address", "a user can approve what is right")
	for name := range rogues {
		csr, err := b.kube.CertificatesV1().CertificateSigningRequests().Get(b.ctx, name, metav1.GetOptions{})
		require.NoError(t, err)
		require.Empty(t, csr.Status, name)
		_, err = b.kube.CoreV1().Events("assisted-installer").Get(b.ctx, "csr-left-pending-"+name, metav1.GetOptions{})
		require.NoError(t, err, name)
	}
	s.set(func(c *wire.Cluster) { c.Status, s.completed = "finalizing", 0 })
	require.NoError(t, controller.Run(b.ctx, b.options), "a second controller finishes as well")
	log, err := os.ReadFile(b.options.LogFile)
	require.NoError(t, err)
	require.Equal(t, len(rogues), strings.Count(string(log), "certificate request left pending"), "each is reported once")
}

func node(name string, isReady corev1.ConditionStatus) corev1.Node {
	return corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: isReady}}},
	}
}
