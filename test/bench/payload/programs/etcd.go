package programs

import (
	"path/filepath"

	"slipway/internal/sim/payload/pki"
)

// Ports of etcd.
const (
	EtcdClientPort = 2379
	EtcdPeerPort   = 2380
)

// EtcdName returns the name of the host's member. The bootstrap host's member has another: it leaves the cluster, and the host comes back
// with an empty disk.
func (h *Host) EtcdName() string {
	if h.Role == "bootstrap" {
		return "etcd-bootstrap"
	}
	return h.Name
}

// EtcdData returns the folder of the member's data.
func (h *Host) EtcdData() string { return filepath.Join(h.State, "etcd") }

// EtcdCertificate makes what etcd's members and clients on this host show each other.
func (h *Host) EtcdCertificate() error {
	return h.certificate(pki.EtcdSigner, "etcd", pki.Subject{Name: "etcd:" + h.Name, Hosts: h.names()})
}

// Etcd runs a member; joining are the flags that tell how it comes into the cluster.
func (h *Host) Etcd(joining []string) Command {
	cert, key, authority := h.Own.Cert("etcd"), h.Own.Key("etcd"), h.Keys.Cert(pki.EtcdSigner)
	argv := []string{
		h.program("etcd"), "--name=" + h.EtcdName(), "--data-dir=" + h.EtcdData(),
		"--listen-client-urls=" + url(h.any(), EtcdClientPort), "--advertise-client-urls=" + h.Endpoint(EtcdClientPort),
		"--listen-peer-urls=" + url(h.any(), EtcdPeerPort), "--initial-advertise-peer-urls=" + h.Endpoint(EtcdPeerPort),
		"--cert-file=" + cert, "--key-file=" + key, "--trusted-ca-file=" + authority, "--client-cert-auth",
		"--peer-cert-file=" + cert, "--peer-key-file=" + key, "--peer-trusted-ca-file=" + authority, "--peer-client-cert-auth",
		// Emulated machines stand still for seconds, and elections would follow each other; a
		// member that is alone waits for as long when it starts.
		"--heartbeat-interval=1000", "--election-timeout=10000",
		// What is committed is in the log at once; the database may follow more seldom than ten times a second.
		"--backend-batch-interval=1s",
		"--logger=zap", "--log-level=warn",
	}
	return Command{Argv: append(argv, joining...)}
}
