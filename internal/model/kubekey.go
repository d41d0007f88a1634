package model

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// KubeKey names the resource of Kubernetes that defines an object: the ClusterDeployment of a cluster, the InfraEnv of an InfraEnv, the
// Agent of a host. Zero: a user defines the object.
type KubeKey struct{ Namespace, Name string }

// String returns the key as NAMESPACE/NAME, empty for none.
func (k KubeKey) String() string {
	if k == (KubeKey{}) {
		return ""
	}
	return k.Namespace + "/" + k.Name
}

// ParseKubeKey reads NAMESPACE/NAME. Another text is an ErrInvalid.
func ParseKubeKey(text string) (KubeKey, error) {
	namespace, name, _ := strings.Cut(text, "/")
	if len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return KubeKey{}, Invalidf("require NAMESPACE/NAME of a resource of Kubernetes, found %q", text)
	}
	return KubeKey{namespace, name}, nil
}
