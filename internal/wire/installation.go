package wire

import "github.com/google/uuid"

// Installation is a cluster in a list of installations. It is of our own API (api/slipway.yaml), not of the contract.
type Installation struct {
	ID               uuid.UUID     `json:"id"`
	Name             string        `json:"name"`
	OpenShiftVersion string        `json:"openshift_version,omitempty"`
	Status           ClusterStatus `json:"status"`
	StatusInfo       string        `json:"status_info,omitempty"`
	StatusUpdatedAt  DateTime      `json:"status_updated_at"`
	CreatedAt        DateTime      `json:"created_at"`
}

// Installations is a page of installations. Next is the offset of the next page; zero: there is none.
type Installations struct {
	Installations []Installation `json:"installations"`
	Next          int            `json:"next_offset,omitempty"`
}

// Timeline is the history of an installation, in pages of hosts and of events. An offset of zero is none.
type Timeline struct {
	Installation

	Hosts      []TimelineHost `json:"hosts"`
	NextHosts  int            `json:"next_hosts_offset,omitempty"`
	Events     []Event        `json:"events"` // newest first
	NextEvents int            `json:"next_events_offset,omitempty"`
}

// TimelineHost is a host with what it was asked for.
type TimelineHost struct {
	ID             uuid.UUID      `json:"id"`
	InfraEnvID     uuid.UUID      `json:"infra_env_id"`
	Name           string         `json:"name,omitempty"`
	Role           string         `json:"role"`
	Status         HostStatus     `json:"status"`
	StatusInfo     string         `json:"status_info,omitempty"`
	Stage          HostStage      `json:"stage,omitempty"`
	StageStartedAt *DateTime      `json:"stage_started_at,omitempty"`
	Steps          []TimelineStep `json:"steps"` // newest first
}

// TimelineStep is a step of an agent, or a stage that was waited for.
type TimelineStep struct {
	Kind     string    `json:"kind"` // step or stage
	Name     string    `json:"name"`
	State    string    `json:"state"` // pending, sent, reported, done or superseded
	ExitCode int       `json:"exit_code"`
	AskedAt  DateTime  `json:"asked_at"`
	SentAt   *DateTime `json:"sent_at,omitempty"`
	EndedAt  *DateTime `json:"ended_at,omitempty"`
}
