package agent_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"slipway/api/kube/agent"
	"slipway/api/kube/agentinstall"
	"slipway/api/kube/resource"
)

// secrets is a hub whose every namespace has every Secret, and remembers which were read.
type secrets struct {
	kube.Client
	read []types.NamespacedName
}

func (s *secrets) Get(_ context.Context, key types.NamespacedName, into kube.Object, _ ...kube.GetOption) error {
	s.read = append(s.read, key)
	if secret, ok := into.(*corev1.Secret); ok {
		secret.Namespace, secret.Name, secret.Data = key.Namespace, key.Name, map[string][]byte{"ignition-token": []byte("secret")}
	}
	return nil
}

// An Agent that was written while no webhook answered has references that the webhook refuses.
func TestReferencesStayInTheNamespaceOfTheirAgent(t *testing.T) {
	t.Parallel()
	token := func(namespace string) agentinstall.AgentSpec {
		return agentinstall.AgentSpec{IgnitionEndpointTokenReference: &agentinstall.ObjectReference{Namespace: namespace, Name: "token"}}
	}
	for name, c := range map[string]struct {
		spec    agentinstall.AgentSpec
		refused string
	}{
		"a token of its namespace": {token("one"), ""},
		"a token of another namespace": {
			token("two"), "spec.ignitionEndpointTokenReference.namespace: require the Agent's namespace one, found two",
		},
		"a cluster of another namespace": {
			agentinstall.AgentSpec{ClusterDeploymentName: &agentinstall.ClusterReference{Namespace: "two", Name: "lab"}},
			"spec.clusterDeploymentName.namespace: require the Agent's namespace one, found two",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hub := &secrets{}
			r := &agent.Reconciler{References: resource.References{Kube: hub, API: hub}}
			a := &agentinstall.Agent{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "host"}, Spec: c.spec}
			err := agent.Read(t.Context(), r, a)
			if c.refused == "" {
				require.NoError(t, err)
				require.Equal(t, []types.NamespacedName{{Namespace: "one", Name: "token"}}, hub.read)
				return
			}
			require.EqualError(t, err, c.refused)
			var input *resource.InputError
			require.ErrorAs(t, err, &input, "the condition of the Agent says so")
			require.Empty(t, hub.read, "nothing of another namespace is read")
		})
	}
}
