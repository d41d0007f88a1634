package wire

import "github.com/google/uuid"

// PropCertificateRequest is the property of an event about a certificate request that has its name.
const PropCertificateRequest = "certificate_request"

// Audit is a page of the audit, of our own API (api/slipway.yaml), newest row first.
type Audit struct {
	Entries       []AuditEntry `json:"entries"`
	NextPageToken string       `json:"next_page_token,omitempty"` // missing: there are no more rows
}

// AuditEntry is a command of a user, or a read of secrets.
type AuditEntry struct {
	ID         int64      `json:"id"`
	At         DateTime   `json:"at"`
	UserName   string     `json:"user_name,omitempty"`
	Credential string     `json:"credential"`
	TokenID    *uuid.UUID `json:"token_id,omitempty"`
	OrgID      string     `json:"org_id,omitempty"`
	Role       string     `json:"role"`
	Address    string     `json:"address,omitempty"`
	Operation  string     `json:"operation"`
	Method     string     `json:"method,omitempty"`
	Path       string     `json:"path,omitempty"`
	Subject    string     `json:"subject,omitempty"`
	ClusterID  *uuid.UUID `json:"cluster_id,omitempty"`
	InfraEnvID *uuid.UUID `json:"infra_env_id,omitempty"`
	HostID     *uuid.UUID `json:"host_id,omitempty"`
	RequestID  string     `json:"request_id,omitempty"`
	Detail     string     `json:"detail,omitempty"`
	Outcome    string     `json:"outcome"` // ok, refused, failed or unknown
	Status     int        `json:"status,omitempty"`
	EndedAt    *DateTime  `json:"ended_at,omitempty"` // missing: the outcome is unknown
}
