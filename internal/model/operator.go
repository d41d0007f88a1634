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
	ClusterID        uuid.UUID
	Name             string // cvo, console, or an OLM operator
	Type             string // builtin or olm
	Version          string
	Namespace        string
	SubscriptionName string
	Properties       string
	Timeout          time.Duration
	Status           OperatorStatus
	StatusInfo       string
	StatusUpdatedAt  time.Time
}

// Manifest is a file added to the installation; its content is in the blob store.
type Manifest struct {
	ClusterID uuid.UUID
	Folder    string // manifests or openshift
	FileName  string
	Source    string // user or system
	Blob      BlobRef
}

// BlobRef refers to an object in the blob store.
type BlobRef struct {
	Key    string `json:"key"`
	SHA256 string `json:"sha256"` // hex
	Size   int64  `json:"size"`   // bytes, before encryption
}
