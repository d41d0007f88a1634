package spoke_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/hive"
	"slipway/api/kube/spoke"
)

// left returns a host that left the cluster one/lab, where its node was "two".
func left(state string) *agentinstall.Agent {
	a := &agentinstall.Agent{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "two"}}
	a.Status.DebugInfo.State = state
	a.Status.DeprovisionInfo = &agentinstall.AgentDeprovisionInfo{ClusterNamespace: "one", ClusterName: "lab", NodeName: "two"}
	return a
}

func TestNodeIsLookedAtOnceItsHostHasBootedFromItsImage(t *testing.T) {
	t.Parallel()
	deployment := &hive.ClusterDeployment{}
	for state, want := range map[string]spoke.Step{
		"installed": spoke.Wait, "added-to-existing-cluster": spoke.Wait, "error": spoke.Wait, "": spoke.Wait,
		"unbinding": spoke.Wait, "unbinding-pending-user-action": spoke.Wait, "reclaiming": spoke.Wait, "reclaiming-rebooting": spoke.Wait,
		"discovering-unbound": spoke.Look, "known-unbound": spoke.Look, "insufficient-unbound": spoke.Look, "disconnected-unbound": spoke.Look,
		"binding": spoke.Look, "discovering": spoke.Look, "known": spoke.Look, "insufficient": spoke.Look,
		"installing": spoke.Wait, // seen first after the controllers were away: it is looked at when the host is discovered again
	} {
		require.Equal(t, want, spoke.Before(left(state), deployment).Step, state)
	}
	tried := left("installing-in-progress") // in another cluster meanwhile
	spoke.Failed(tried, "no answer", metav1.NewTime(time.Now()))
	require.Equal(t, spoke.Look, spoke.Before(tried, deployment).Step)
	tried.Status.DebugInfo.State = "unbinding-pending-user-action" // leaves that one
	require.Equal(t, spoke.Wait, spoke.Before(tried, deployment).Step)
}

func TestNodeStaysWithoutItsCluster(t *testing.T) {
	t.Parallel()
	leaving := &hive.ClusterDeployment{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: new(metav1.Now())}}
	require.Equal(t, spoke.Decision{Step: spoke.Keep}, spoke.Before(left("known-unbound"), nil))
	require.Equal(t, spoke.Decision{Step: spoke.Keep}, spoke.Before(left("known-unbound"), leaving))
}

func TestUserKeepsANode(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]spoke.Step{"true": spoke.Keep, "false": spoke.Look, "": spoke.Look} {
		a := left("known-unbound")
		a.Annotations = map[string]string{"agent.agent-install.openshift.io/skip-spoke-cleanup": value}
		require.Equal(t, want, spoke.Before(a, &hive.ClusterDeployment{}).Step, value)
	}
}

func TestNodeIsRemovedThatNothingNeeds(t *testing.T) {
	t.Parallel()
	node := func(ready corev1.ConditionStatus, roles ...string) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "two", Labels: map[string]string{}}}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
		for _, role := range roles {
			n.Labels["node-role.kubernetes.io/"+role] = ""
		}
		return n
	}
	other := func(hostname string) []agentinstall.Agent {
		a := agentinstall.Agent{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "b"}}
		a.Status.Inventory.Hostname = hostname
		return []agentinstall.Agent{a}
	}
	for name, c := range map[string]struct {
		node   *corev1.Node
		others []agentinstall.Agent
		want   spoke.Step
		reason string
	}{
		"a worker that is missed":            {node(corev1.ConditionUnknown, "worker"), other("three"), spoke.Remove, ""},
		"one that said it is not ready":      {node(corev1.ConditionFalse, "worker"), nil, spoke.Remove, ""},
		"an infra node":                      {node(corev1.ConditionUnknown, "infra", "worker"), nil, spoke.Remove, ""},
		"a machine runs as the node":         {node(corev1.ConditionTrue, "worker"), nil, spoke.Wait, "it is ready"},
		"another host has taken its name":    {node(corev1.ConditionUnknown), other("TWO"), spoke.Keep, "it is the node of Agent one/b"},
		"a master":                           {node(corev1.ConditionUnknown, "control-plane", "master"), nil, spoke.Wait, "role control-plane"},
		"a master of an old release":         {node(corev1.ConditionUnknown, "master", "worker"), nil, spoke.Wait, "role master"},
		"an administrator removed it before": {nil, nil, spoke.Keep, ""},
	} {
		got := spoke.After(left("known-unbound"), c.node, c.others)
		require.Equal(t, c.want, got.Step, name)
		require.True(t, strings.Contains(got.Reason, c.reason) && (c.reason == "") == (got.Reason == ""), "%s: %s", name, got.Reason)
	}
}
