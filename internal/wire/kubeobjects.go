package wire

import "github.com/google/uuid"

// KubeObject is a cluster or an InfraEnv that a resource of Kubernetes defines.
type KubeObject struct {
	Kind      string    `json:"kind"` // cluster or infra-env
	ID        uuid.UUID `json:"id"`
	Namespace string    `json:"namespace"` // of the resource
	Name      string    `json:"name"`      // of the resource
}
