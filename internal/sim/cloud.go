package sim

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"slipway/internal/sim/kubeapi"
)

// externalCloud reports whether the kubelet of a node runs with an external cloud provider, which the machine config
// operator decides by the platform of the cluster (openshift/library-go, pkg/cloudprovider/external.go).
func (m *Machine) externalCloud(ctx context.Context, api string) (bool, error) {
	objects, err := dynamic.NewForConfig(kubeapi.Config(api, kubeapi.UserAdmin))
	if err != nil {
		return false, fmt.Errorf("make the client of the kubelet: %w", err)
	}
	for {
		found, err := objects.Resource(bootkubeApplies["Infrastructure"]).Get(ctx, "cluster", metav1.GetOptions{})
		switch {
		case err == nil:
			return hasExternalCloud(found), nil
		case apierrors.IsNotFound(err):
			return false, nil // the installation brought none
		}
		if err := m.clock.Pause(ctx, look); err != nil { // the API is away
			return false, err
		}
	}
}

func hasExternalCloud(infrastructure *unstructured.Unstructured) bool {
	platform, _, _ := unstructured.NestedString(infrastructure.Object, "spec", "platformSpec", "type")
	switch platform {
	case "VSphere", "Nutanix":
		return true
	case "External":
		state, _, _ := unstructured.NestedString(infrastructure.Object,
			"status", "platformStatus", "external", "cloudControllerManager", "state")
		return state == "External"
	default:
		return false
	}
}
