package programs

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"

	"slipway/internal/sim/payload/pki"
	"slipway/test/bench/payload/plan"
)

// Ports of the control plane.
const (
	APIPort        = 6443
	ControllerPort = 10257
)

// masters is the group that may do all.
const masters = "system:masters"

func url(address netip.Addr, port uint16) string {
	return "https://" + netip.AddrPortFrom(address, port).String()
}

// APIServer runs an API server on the host's own member of etcd.
func (h *Host) APIServer() (Command, error) {
	service, err := h.Plan.ServiceAddress()
	if err != nil {
		return Command{}, err
	}
	names := h.names(append(h.Plan.APINames(), service.String(), "kubernetes", "kubernetes.default", "kubernetes.default.svc")...)
	if err := h.certificate(pki.APISigner, "kube-apiserver", pki.Subject{Name: "kube-apiserver", Hosts: names}); err != nil {
		return Command{}, err
	}
	if err := h.certificate(pki.Root, "kubelet-client", pki.Subject{Name: "kube-apiserver", Groups: []string{masters}}); err != nil {
		return Command{}, err
	}
	return Command{Argv: []string{
		h.program("kube-apiserver"),
		"--etcd-servers=" + h.Endpoint(EtcdClientPort), "--etcd-cafile=" + h.Keys.Cert(pki.EtcdSigner),
		"--etcd-certfile=" + h.Own.Cert("etcd"), "--etcd-keyfile=" + h.Own.Key("etcd"),
		"--secure-port=6443", "--bind-address=" + h.any().String(), "--advertise-address=" + h.Address.Addr().String(),
		"--tls-cert-file=" + h.Own.Cert("kube-apiserver"), "--tls-private-key-file=" + h.Own.Key("kube-apiserver"),
		"--client-ca-file=" + h.Keys.Clients(),
		"--kubelet-certificate-authority=" + h.Keys.Cert(pki.Root),
		"--kubelet-client-certificate=" + h.Own.Cert("kubelet-client"), "--kubelet-client-key=" + h.Own.Key("kubelet-client"),
		"--kubelet-preferred-address-types=InternalIP,Hostname",
		"--service-cluster-ip-range=" + plan.Join(h.Plan.ServiceNetworks),
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + h.Keys.Public(pki.Accounts),
		"--service-account-signing-key-file=" + h.Keys.Key(pki.Accounts),
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
		// Nothing here uses them, and each costs an emulated machine its seconds.
		"--disable-admission-plugins=" + needless, "--enable-priority-and-fairness=false", "--profiling=false",
		"--allow-privileged=true", "--event-ttl=6h", "--request-timeout=3m", "--delete-collection-workers=1",
		"--etcd-compaction-interval=0", "--etcd-count-metric-poll-period=0", "--etcd-db-metric-poll-interval=0",
		"--endpoint-reconciler-type=none", "--etcd-readycheck-timeout=20s", "--etcd-healthcheck-timeout=20s",
		"--feature-gates=SizeBasedListCostEstimate=false", "--v=0",
	}}, nil
}

const needless = "LimitRanger,DefaultStorageClass,PersistentVolumeClaimResize,DefaultTolerationSeconds,MutatingAdmissionWebhook," +
	"ValidatingAdmissionWebhook,ResourceQuota,StorageObjectInUseProtection,RuntimeClass,ClusterTrustBundleAttest,DefaultIngressClass," +
	"PodSecurity,PodTopologyLabels,MutatingAdmissionPolicy,ValidatingAdmissionPolicy"

// controllers that objects of an installation need. The collector of garbage watches every kind there is: too
// dear.
const controllers = "certificatesigningrequest-signing-controller,serviceaccount-controller,serviceaccount-token-controller," +
	"root-ca-certificate-publisher-controller,job-controller,node-lifecycle-controller,namespace-controller," +
	"ttl-after-finished-controller,clusterrole-aggregation-controller"

// ControllerManager runs a controller manager against the host's own API server.
func (h *Host) ControllerManager() (Command, error) {
	if err := h.certificate(
		pki.Root, "kube-controller-manager", pki.Subject{Name: "system:kube-controller-manager", Groups: []string{masters}},
	); err != nil {
		return Command{}, err
	}
	client, err := h.Own.Load("kube-controller-manager")
	if err != nil {
		return Command{}, err
	}
	authority, err := os.ReadFile(h.Keys.Cert(pki.APISigner))
	if err != nil {
		return Command{}, err
	}
	kubeconfig, err := pki.Access{
		Cluster: "bench", User: "kube-controller-manager", Server: "https://localhost:6443", Authority: authority, Client: client,
	}.Kubeconfig()
	if err != nil {
		return Command{}, err
	}
	path := filepath.Join(h.State, "kube-controller-manager.kubeconfig")
	elect := []string{"--leader-elect=false"}
	if !h.Plan.InPlace {
		elect = []string{"--leader-elect-lease-duration=120s", "--leader-elect-renew-deadline=90s", "--leader-elect-retry-period=30s"}
	}
	argv := []string{
		h.program("kube-controller-manager"), "--kubeconfig=" + path,
		"--authentication-kubeconfig=" + path, "--authorization-kubeconfig=" + path, "--authentication-skip-lookup=true",
		"--bind-address=" + h.any().String(), "--secure-port=10257", "--cert-dir=" + filepath.Join(h.State, "kube-controller-manager"),
		"--controllers=" + controllers,
		"--cluster-signing-cert-file=" + h.Keys.Cert(pki.Root), "--cluster-signing-key-file=" + h.Keys.Key(pki.Root),
		"--root-ca-file=" + h.Keys.Cert(pki.APISigner), "--service-account-private-key-file=" + h.Keys.Key(pki.Accounts),
		"--cluster-signing-duration=8760h", "--node-monitor-period=10s", "--node-monitor-grace-period=240s", "--profiling=false", "--v=0",
	}
	return Command{Argv: append(argv, elect...), Files: map[string][]byte{path: kubeconfig}}, nil
}

// URL returns the URL of a server on a host.
func URL(host string, port uint16) string {
	return "https://" + net.JoinHostPort(host, strconv.Itoa(int(port)))
}
