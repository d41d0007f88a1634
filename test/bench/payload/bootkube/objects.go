package bootkube

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"slipway/test/bench/payload/kube"
)

// Whom kubelets are until they have a certificate (OpenShift: machine-config-server).
const (
	bootstrapperSpace = "openshift-machine-config-operator"
	bootstrapperName  = "node-bootstrapper"
	// BootstrapperUser is its name as a user.
	BootstrapperUser = "system:serviceaccount:" + bootstrapperSpace + ":" + bootstrapperName
)

// ownObjects makes objects that operators would bring: kubelets may ask for certificates.
func ownObjects() []*unstructured.Unstructured {
	const rbac = "rbac.authorization.k8s.io/v1"
	return []*unstructured.Unstructured{
		kube.Object("v1", "Namespace", "", bootstrapperSpace, nil),
		kube.Object("v1", "ServiceAccount", bootstrapperSpace, bootstrapperName, nil),
		kube.Object(rbac, "ClusterRoleBinding", "", "system-bootstrap-node-bootstrapper", map[string]any{
			"roleRef": map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:node-bootstrapper"},
			"subjects": []any{
				map[string]any{"kind": "ServiceAccount", "namespace": bootstrapperSpace, "name": bootstrapperName},
			},
		}),
	}
}
