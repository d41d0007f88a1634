package model

import (
	"time"

	"github.com/google/uuid"
)

// AuditOutcome says how a command ended.
type AuditOutcome string

// The outcomes.
const (
	// AuditUnknown is the outcome of a command that has begun. It stays when the service was killed before it answered.
	AuditUnknown AuditOutcome = "unknown"
	AuditOK      AuditOutcome = "ok"
	AuditRefused AuditOutcome = "refused" // the answer blames the caller: 4xx
	AuditFailed  AuditOutcome = "failed"  // the answer blames the service: 5xx; a part may have been done
)

// AuditCredential is the kind of credential that a command came with.
type AuditCredential string

// The kinds of credentials.
const (
	AuditToken   AuditCredential = "token"   // of a user, that this service signed
	AuditOIDC    AuditCredential = "oidc"    // an ID token of an issuer
	AuditSession AuditCredential = "session" // of a browser
	AuditAddress AuditCredential = "address" // an address that opens a file
	AuditMachine AuditCredential = "machine" // of a host or a controller
	AuditNone    AuditCredential = "none"    // mode none asks for no credential
)

// AuditEntry is one command of a user, or one read of secrets. It holds no body and no secret.
type AuditEntry struct {
	ID         int64           `db:"id"`
	At         time.Time       `db:"at"`
	UserName   string          `db:"user_name"` // empty: the credential names no user
	Credential AuditCredential `db:"credential"`
	TokenID    *uuid.UUID      `db:"token_id"`
	OrgID      string          `db:"org_id"`
	Role       string          `db:"role"`
	Address    string          `db:"address"` // of the client
	Operation  string          `db:"operation"`
	Method     string          `db:"method"`
	Path       string          `db:"path"`    // with the names of its ids, not their values
	Subject    string          `db:"subject"` // what else the operation was about: a file, a command, a token, a workflow
	ClusterID  *uuid.UUID      `db:"cluster_id"`
	InfraEnvID *uuid.UUID      `db:"infra_env_id"`
	HostID     *uuid.UUID      `db:"host_id"`
	RequestID  string          `db:"request_id"`
	Detail     string          `db:"detail"` // why a controller decided so
	Outcome    AuditOutcome    `db:"outcome"`
	Status     int             `db:"status"` // of the answer; zero: none yet, or a decision without one
	EndedAt    time.Time       `db:"ended_at"`
}

// End adds the outcome of an answer.
func (e *AuditEntry) End(status int) {
	e.Status = status
	switch {
	case status >= 500:
		e.Outcome = AuditFailed
	case status >= 400:
		e.Outcome = AuditRefused
	default:
		e.Outcome = AuditOK
	}
}
