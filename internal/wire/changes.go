package wire

import "github.com/google/uuid"

// Changes is a part of the feed of changes.
type Changes struct {
	// Cursor is where the next part begins.
	Cursor  string   `json:"cursor"`
	Changes []Change `json:"changes"`
}

// Change says that an object was made, changed or deleted.
type Change struct {
	Kind       string     `json:"kind"` // cluster, host or infra-env
	ID         uuid.UUID  `json:"id"`
	InfraEnvID *uuid.UUID `json:"infra_env_id,omitempty"` // of a host
	ClusterID  *uuid.UUID `json:"cluster_id,omitempty"`   // of a host or an InfraEnv that has one
	Deleted    bool       `json:"deleted,omitempty"`
}
