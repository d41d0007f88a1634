package model

import (
	"time"

	"github.com/google/uuid"
)

// Severity ranks an event.
type Severity string

// The severities.
const (
	SeverityInfo     Severity = "info"
	SeverityWarning  Severity = "warning"
	SeverityError    Severity = "error"
	SeverityCritical Severity = "critical"
)

// Event is one line of the history users read. docs/reference/events.md lists the names.
type Event struct {
	ID         int64
	Name       string
	Category   string // user or metrics
	Severity   Severity
	ClusterID  *uuid.UUID
	HostID     *uuid.UUID
	InfraEnvID *uuid.UUID
	RequestID  *uuid.UUID
	Message    string
	Props      map[string]any
	At         time.Time
	// Quiet suppresses the event when the same one about the same host, cluster or InfraEnv is younger than
	// that; zero: never.
	Quiet time.Duration
	// Counted is for observers that compute metrics; it is not stored.
	Counted Counted
}

// Counted holds the values of an event that metrics need and that are not its properties. The objects it points to may change once the
// transaction that wrote the event is over.
type Counted struct {
	Cluster *Cluster
	Host    *Host
	// Stage is the stage that ended, Duration the time it took.
	Stage    Stage
	Duration time.Duration
	// FailedHostValidations counts, when a cluster is deleted, the hosts that each fails on.
	FailedHostValidations map[string]int
}
