package model

import (
	"time"

	"github.com/google/uuid"
)

// OperatorStatus is the state of a monitored operator.
type OperatorStatus string

// The operator statuses; empty until first reported.
const (
	OperatorFailed      OperatorStatus = "failed"
	OperatorProgressing OperatorStatus = "progressing"
	OperatorAvailable   OperatorStatus = "available"
)

// MonitoredOperator is an operator that an installation waits for.
type MonitoredOperator struct {
	ClusterID        uuid.UUID `db:"cluster_id"`
	Name             string    `db:"name"` // cvo, console, or an OLM operator
	Type             string    `db:"type"` // builtin or olm
	Version          string    `db:"version"`
	Namespace        string    `db:"namespace"`
	SubscriptionName string    `db:"subscription_name"`
	Properties       string    `db:"properties"`
	Timeout          time.Duration
	Status           OperatorStatus `db:"status"`
	StatusInfo       string         `db:"status_info"`
	StatusUpdatedAt  time.Time      `db:"status_updated_at"`
}

// Manifest is a file added to the installation; its content is in the blob store.
type Manifest struct {
	ClusterID uuid.UUID `db:"cluster_id"`
	Folder    string    `db:"folder"` // manifests or openshift
	FileName  string    `db:"file_name"`
	Source    string    `db:"source"` // user or system
	Blob      BlobRef
}

// BlobRef refers to an object in the blob store.
type BlobRef struct {
	Key    string `json:"key" db:"blob_key"`
	SHA256 string `json:"sha256" db:"sha256"` // hex
	Size   int64  `json:"size" db:"size"`     // bytes, before encryption
}
