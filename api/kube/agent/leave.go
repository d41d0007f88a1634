package agent

import (
	"strings"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"

	"slipway/api/kube/agentinstall"
	"slipway/internal/wire"
)

// Leaves returns the node that is to be removed because its host leaves an installed cluster, nil: none. bound is the ClusterDeployment
// that the host is bound to, and which its Agent does not name any more. The service knows the node's name; the spec may have another by
// now.
func Leaves(a *agentinstall.Agent, h *wire.Host, bound types.NamespacedName) *agentinstall.AgentDeprovisionInfo {
	joined := phases[h.Status] == phaseInstalled ||
		phases[h.Status] == phaseFailed && h.Kind == wire.HostKindAddToExistingClusterHost // it may have joined all the same
	node := strings.ToLower(h.RequestedHostname)
	if !joined || node == "" || a.KeepsNode() || a.Spec.ClusterDeploymentName.Is(bound) {
		return nil
	}
	return &agentinstall.AgentDeprovisionInfo{ClusterNamespace: bound.Namespace, ClusterName: bound.Name, NodeName: node}
}

// forgetNode drops from a status what is of a former node: the certificate requests of a host that has not been installed since, and the
// cluster to remove it from where the host is in that cluster again.
func forgetNode(status *agentinstall.AgentStatus, in Inputs) {
	if in.Host.Progress.CurrentStage == "" {
		status.CSRStatus = agentinstall.CSRStatus{}
	}
	info, bound := status.DeprovisionInfo, in.ClusterID != uuid.Nil && in.Host.ClusterID == in.ClusterID
	if info == nil || !bound || leaving[in.Host.Status] {
		return
	}
	if in.Resource.Spec.ClusterDeploymentName.Is(types.NamespacedName{Namespace: info.ClusterNamespace, Name: info.ClusterName}) {
		status.EndCleanup()
	}
}
