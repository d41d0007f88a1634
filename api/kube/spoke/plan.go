// Package spoke works in installed clusters. It lets hosts that join one become nodes: no controller in the cluster knows them, so that no
// program would approve the certificate requests of their kubelets. And it removes the nodes of hosts that left one.
package spoke

import (
	"net/netip"
	"slices"
	"time"

	certv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"slipway/api/kube/agentinstall"
	"slipway/internal/cluster/kubeletcsr"
)

const (
	// soon is the time between two looks at a cluster during the first hour after a host's reboot, later the time after that.
	soon  = 15 * time.Second
	later = 5 * time.Minute
	// slowBoot is how long a host is expected at any moment, patience how long it is expected at all.
	slowBoot = time.Hour
	patience = 24 * time.Hour
	// settled is how long a node that is ready may have no serving certificate before others are taken to have approved it.
	settled = 10 * time.Minute
)

// Types of the requests in a status, as the existing service has them.
const (
	clientType  = "client"
	servingType = "serving"
)

// Inputs has what decides of the requests of one host.
type Inputs struct {
	Agent *agentinstall.Agent
	// Others are the further Agents of the cluster, VIPs its virtual addresses.
	Others []agentinstall.Agent
	VIPs   []string
	// Node of the host in the cluster; nil: none. Requests are the cluster's.
	Node     *corev1.Node
	Requests []certv1.CertificateSigningRequest
}

// Verdict is about a request of the host's kubelet.
type Verdict struct {
	Request *certv1.CertificateSigningRequest
	Type    string
	// Refusal is why it stays pending; nil: it is approved.
	Refusal error
}

// Expected reports whether the host of an Agent has left the discovery image for an installed cluster, and since when. A service that is
// gone keeps the statuses of its hosts.
func Expected(a *agentinstall.Agent) (since time.Time, expected bool) {
	stage, at := a.Status.Progress.CurrentStage, a.Status.Progress.StageStartTime
	if a.Status.Kind != "AddToExistingClusterHost" || a.Spec.ClusterDeploymentName == nil || at == nil || !a.DeletionTimestamp.IsZero() {
		return time.Time{}, false
	}
	return at.Time, slices.Contains([]string{"Rebooting", "Waiting for ignition", "Configuring", "Joined", "Done"}, stage)
}

// Evaluate decides about the pending requests that are of the host's kubelet, or claim to be.
func Evaluate(in Inputs) (verdicts []Verdict) {
	name := in.Agent.NodeName()
	for n := range in.Requests {
		csr := &in.Requests[n]
		if kubeletcsr.Answered(csr) || !kubeletcsr.Concerns(csr) {
			continue
		}
		r, err := kubeletcsr.Read(csr)
		if err != nil || r.Node != name { // of another host, or of none: the administrator of the cluster answers
			continue
		}
		v := Verdict{Request: csr, Type: servingType}
		if r.Client {
			v.Type, v.Refusal = clientType, mayJoin(in)
		} else {
			v.Refusal = r.CheckNames(addressesOf(in.Agent), taken(in))
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// mayJoin returns an error where the node of a first certificate exists, but for a node from before the host was installed again.
func mayJoin(in Inputs) error {
	if in.Node == nil {
		return nil
	}
	since, _ := Expected(in.Agent)
	return kubeletcsr.CheckNode(in.Node, in.Node.CreationTimestamp.Time.Before(since))
}

// addressesOf returns the addresses in the inventory of a host.
func addressesOf(a *agentinstall.Agent) (list []netip.Addr) {
	for _, card := range a.Status.Inventory.Interfaces {
		for _, text := range slices.Concat(card.IPV4Addresses, card.IPV6Addresses) {
			if prefix, err := netip.ParsePrefix(text); err == nil {
				list = append(list, prefix.Addr())
			}
		}
	}
	return list
}

// taken maps addresses that the host may not have to their owners.
func taken(in Inputs) map[netip.Addr]string {
	out := map[netip.Addr]string{}
	for n := range in.Others {
		for _, address := range addressesOf(&in.Others[n]) {
			out[address] = "host " + in.Others[n].NodeName()
		}
	}
	for _, text := range in.VIPs {
		if address, err := netip.ParseAddr(text); err == nil {
			out[address] = "the cluster"
		}
	}
	return out
}

// Next returns when to look at the cluster again; zero: the host is a node, or is not expected any more.
func Next(in Inputs, now time.Time) time.Duration {
	since, expected := Expected(in.Agent)
	age := now.Sub(since)
	if !expected || age > patience {
		return 0
	}
	if in.Node != nil {
		if c := kubeletcsr.Ready(in.Node); c != nil && (hasServing(in.Agent) || now.Sub(c.LastTransitionTime.Time) > settled) {
			return 0
		}
	}
	if age > slowBoot {
		return later
	}
	return soon
}

func hasServing(a *agentinstall.Agent) bool {
	return slices.ContainsFunc(a.Status.CSRStatus.ApprovedCSRs, func(c agentinstall.CSRInfo) bool { return c.Type == servingType })
}

// note writes the approved requests into the status of an Agent.
func note(a *agentinstall.Agent, approved []Verdict, now metav1.Time) {
	for _, v := range approved {
		a.Status.CSRStatus.ApprovedCSRs = append(a.Status.CSRStatus.ApprovedCSRs,
			agentinstall.CSRInfo{Name: v.Request.Name, Type: v.Type, ApprovedAt: now})
	}
	a.Status.CSRStatus.LastApprovalAttempt = &now
}
