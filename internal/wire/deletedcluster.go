package wire

import "github.com/google/uuid"

// DeletedCluster is a cluster that can be brought back. It is of our own API (api/slipway.yaml), not of the contract.
type DeletedCluster struct {
	ID               uuid.UUID     `json:"id"`
	Name             string        `json:"name"`
	Status           ClusterStatus `json:"status"` // when it was deleted
	OpenShiftVersion string        `json:"openshift_version,omitempty"`
	DeletedAt        DateTime      `json:"deleted_at"`
	KeptUntil        DateTime      `json:"kept_until"` // it is purged within the hour after, by default
}
