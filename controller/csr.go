package controller

import (
	"fmt"
	"net/netip"
	"slices"

	certv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"

	"slipway/internal/cluster/kubeletcsr"
	"slipway/internal/model"
)

// evaluate returns why a request must not be approved, nil if it may be.
func evaluate(csr *certv1.CertificateSigningRequest, s State) error {
	r, err := kubeletcsr.Read(csr)
	if err != nil {
		return err
	}
	host := hostNamed(r.Node, s)
	if host == nil {
		return fmt.Errorf("require a host of this cluster, found %q", r.Node)
	}
	if slices.Contains(lost, host.Status) {
		return fmt.Errorf("require a host that is being installed, found %s in status %s", host.Name, host.Status)
	}
	if !r.Client {
		return r.CheckNames(host.Addresses, claimedByOthers(host.Name, s))
	}
	if err := aboutToJoin(host, s.Outdated); err != nil {
		return err
	}
	return notJoined(host, s.Nodes)
}

// claimedByOthers maps the addresses that a node may not have to their owner: other hosts' addresses, and virtual ones.
func claimedByOthers(name string, s State) map[netip.Addr]string {
	out := map[netip.Addr]string{}
	for i := range s.Cluster.Hosts {
		if h := &s.Cluster.Hosts[i]; h.Name != name {
			for _, address := range h.Addresses {
				out[address] = "host " + h.Name
			}
		}
	}
	for _, address := range s.Cluster.VIPs {
		out[address] = "the cluster"
	}
	return out
}

// lost are the statuses of hosts that join nothing.
var lost = []model.HostStatus{model.HostError, model.HostCancelled, model.HostDisabled}

// joining are the stages of a host whose kubelet asks for its first certificate: after it left the live image, and before its node
// is there.
var joining = []model.Stage{model.StageRebooting, model.StageWaitingForIgnition, model.StageConfiguring}

// beforeImage are the stages of a host that has nothing on its disk to boot.
var beforeImage = []model.Stage{"", model.StageStartingInstallation, model.StageInstalling, model.StageFailed}

// leaving reports whether a host may have rebooted in a stage while the service did not answer.
func leaving(s model.Stage) bool { return !s.LeftLiveImage() && !slices.Contains(beforeImage, s) }

func aboutToJoin(h *Host, outdated bool) error {
	if outdated && leaving(h.Stage) {
		return nil
	}
	if !slices.Contains(joining, h.Stage) {
		return fmt.Errorf("require a host between %s and %s, found %s in stage %q", model.StageRebooting, model.StageJoined, h.Name, h.Stage)
	}
	return nil
}

// notJoined returns an error where the node of a first certificate exists.
func notJoined(h *Host, nodes []corev1.Node) error {
	i := slices.IndexFunc(nodes, func(n corev1.Node) bool { return n.Name == h.Name })
	if i < 0 {
		return nil
	}
	return kubeletcsr.CheckNode(&nodes[i], ofAttemptBefore(*h, &nodes[i]))
}
