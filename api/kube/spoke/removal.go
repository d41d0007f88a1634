package spoke

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/hive"
	"slipway/api/kube/resource"
	"slipway/internal/cluster/kubeletcsr"
)

// again is the time until a node that could not be removed is looked at again.
const again = time.Minute

// Step says what becomes of the node of a host that left its cluster.
type Step int

const (
	// Wait until the host has booted from its image, or a user decides: its system may still run as the node.
	Wait Step = iota
	// Keep the node for good.
	Keep
	// Look at the cluster: nothing on the hub decides.
	Look
	// Remove the node.
	Remove
)

// Decision is a Step and its reason, a clause for people; empty where nothing is to be said.
type Decision struct {
	Step   Step
	Reason string
}

// returned lists the states of hosts that run the discovery image: their former system does not run any more.
var returned = []string{
	"discovering", "known", "insufficient", "pending-for-input", "disconnected", "binding",
	"discovering-unbound", "known-unbound", "insufficient-unbound", "disconnected-unbound", "disabled-unbound",
}

// back reports whether the host of a node to remove has booted from its image since it left. A host that is in another cluster when its
// node is looked at again has been.
func back(a *agentinstall.Agent) bool {
	leaves := slices.Contains([]string{
		"", "unbinding", "unbinding-pending-user-action", "reclaiming", "reclaiming-rebooting",
	}, a.Status.DebugInfo.State)
	return slices.Contains(returned, a.Status.DebugInfo.State) || !leaves && a.Status.DeprovisionInfo.Message != ""
}

// Before decides by what the hub has, before the cluster is asked. deployment is the cluster of the node, nil: it is deleted.
func Before(a *agentinstall.Agent, deployment *hive.ClusterDeployment) Decision {
	switch {
	case a.KeepsNode():
		return Decision{Keep, "annotation " + agentinstall.SkipSpokeCleanup}
	case deployment == nil || !deployment.DeletionTimestamp.IsZero():
		return Decision{Keep, ""}
	case !back(a):
		return Decision{Wait, "its host has not booted from the image of its InfraEnv"}
	}
	return Decision{Look, ""}
}

// After decides by the node, nil: the cluster has none. others are the Agents that are bound to the cluster.
func After(a *agentinstall.Agent, node *corev1.Node, others []agentinstall.Agent) Decision {
	name := a.Status.DeprovisionInfo.NodeName
	if node == nil {
		return Decision{Keep, ""}
	}
	for n := range others {
		if others[n].NodeName() == name {
			return Decision{Keep, fmt.Sprintf("it is the node of Agent %s/%s", others[n].Namespace, others[n].Name)}
		}
	}
	for _, role := range []string{"control-plane", "master"} {
		if _, has := node.Labels["node-role.kubernetes.io/"+role]; has {
			return Decision{Wait, fmt.Sprintf("it has the role %s: remove it together with its member of etcd, or keep it by the annotation %s=true",
				role, agentinstall.SkipSpokeCleanup)}
		}
	}
	if kubeletcsr.Ready(node) != nil {
		return Decision{Wait, "it is ready: a machine of this name runs, or stopped less than a minute ago"}
	}
	return Decision{Remove, ""}
}

// Failed writes into the status of an Agent why its node is not removed yet.
func Failed(a *agentinstall.Agent, reason string, now metav1.Time) {
	message := fmt.Sprintf("Node %s is not removed: %s", a.Status.DeprovisionInfo.NodeName, reason)
	a.Status.DeprovisionInfo.Message = message
	resource.SetCondition(&a.Status.Conditions, resource.Condition(
		agentinstall.Cleanup, corev1.ConditionFalse, agentinstall.ReasonCleanupFailed, message, now))
}
