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

// Event is one line of the history users read. Names are those of contract/events.md.
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
}
