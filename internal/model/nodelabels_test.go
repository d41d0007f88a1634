package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
)

func TestKubeletsSetLabelsOutsideOfTheDomainsOfKubernetes(t *testing.T) {
	t.Parallel()
	h := model.Host{NodeLabels: map[string]string{
		"site": "lab", "example.com/rack": "r1", "cluster.ocs.openshift.io/openshift-storage": "", "node-role.kubernetes.io/infra": "",
		"node.kubernetes.io/pool": "a", "custom.node.kubernetes.io/x": "b", "kubernetes.io/tier": "c", "node-restriction.kubernetes.io/y": "d",
		"topology.kubernetes.io/zone": "z1", "apps.k8s.io/z": "e", "notkubernetes.io/w": "f",
	}}
	require.Equal(t, []string{
		"cluster.ocs.openshift.io/openshift-storage=", "custom.node.kubernetes.io/x=b", "example.com/rack=r1", "node.kubernetes.io/pool=a",
		"notkubernetes.io/w=f", "site=lab", "topology.kubernetes.io/zone=z1",
	}, h.KubeletLabels())
	require.Empty(t, (&model.Host{}).KubeletLabels())
}
