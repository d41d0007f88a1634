// Package events is the catalogue of the events that users read: name, severity,
// properties and message of each.
package events

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"slipway/internal/model"
)

// category is the one category of the v2 API that users see.
const category = "user"

// Subject names the objects of an event; fields that do not apply are left out.
type Subject struct {
	ClusterID  *uuid.UUID
	HostID     *uuid.UUID
	InfraEnvID *uuid.UUID
	HostName   string
	// Metrics count the event for Cluster and Host, when given (model.Counted).
	Cluster *model.Cluster
	Host    *model.Host
}

// Props are the properties of an event beyond its subject.
type Props map[string]any

// New makes an event of the catalogue. A name that is not in it panics: names are
// constants of this package.
func New(name Name, about Subject, props Props, at time.Time) model.Event {
	e, ok := catalogue[name]
	if !ok {
		panic(fmt.Sprintf("event %q is not in the catalogue", name))
	}
	all := Props{}
	for key, value := range props {
		all[key] = value
	}
	if about.HostName != "" {
		all["host_name"] = about.HostName
	}
	return model.Event{
		Name: string(name), Category: category, Severity: severity(name, e, all),
		ClusterID: about.ClusterID, HostID: about.HostID, InfraEnvID: about.InfraEnvID,
		Message: fill(e.message, all), Props: all, At: at, Quiet: quiet[name].every,
		Counted: model.Counted{Cluster: about.Cluster, Host: about.Host},
	}
}

// fill puts properties into the braces of a message; a missing property leaves them empty.
func fill(message string, props Props) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(message, "{")
		out.WriteString(before)
		if !found {
			return strings.TrimRight(out.String(), " :")
		}
		name, after, _ := strings.Cut(rest, "}")
		if value, ok := props[name]; ok {
			fmt.Fprint(&out, value)
		}
		message = after
	}
}

// statusSeverity raises the severity of status changes that need attention.
var statusSeverity = map[string]model.Severity{
	string(model.HostError):                       model.SeverityError,
	string(model.HostDisconnected):                model.SeverityWarning,
	string(model.HostInsufficient):                model.SeverityWarning,
	string(model.HostPreparingFailed):             model.SeverityWarning,
	string(model.HostInstallingPendingUserAction): model.SeverityWarning,
	string(model.HostResettingPendingUserAction):  model.SeverityWarning,
	string(model.HostDisconnectedUnbound):         model.SeverityWarning,
	string(model.HostInsufficientUnbound):         model.SeverityWarning,
}

func severity(name Name, e entry, props Props) model.Severity {
	if name != HostStatusUpdated {
		return e.severity
	}
	if s, ok := statusSeverity[fmt.Sprint(props["new_status"])]; ok {
		return s
	}
	return e.severity
}

// quiet is how often an event with the same message is written for the same host, cluster or InfraEnv: at most
// once in that time. It lists only events that hosts repeat by themselves; actions of users and changes of a
// status are always written.
var quiet = map[Name]struct {
	every time.Duration
	why   string
}{
	BytesOfHostsRefused:          {24 * time.Hour, "hosts send inventories again and again"},
	HostRegistrationFailed:       {10 * time.Minute, "a refused agent asks again every minute"},
	UpgradeAgentStarted:          {10 * time.Minute, "an upgrade without an answer is requested again"},
	UpgradeAgentFailed:           {10 * time.Minute, "a failed upgrade is requested again"},
	UpgradeAgentRefused:          {10 * time.Minute, "a refused program is offered again"},
	DiskSpeedSlowerThanSupported: {time.Hour, "each preparation measures the disk again"},
	ApiIngressVIPTimedOut:        {10 * time.Minute, "leases are requested until one arrives"},
}

// Entry is an event of the catalogue, for documentation.
type Entry struct {
	Name     Name
	Severity model.Severity
	Props    []string      // in the order of the contract
	Message  string        // words in braces are properties
	Every    time.Duration // written at most once in that time with the same message; 0: always
	Why      string        // of Every
}

// Decisions of controllers about certificate requests of nodes.
const (
	CertificateRequestApproved    Name = "certificate_request_approved"
	CertificateRequestNotApproved Name = "certificate_request_not_approved"
)

// reported lists the events that controllers send, beside the events of the catalogue (controller/notices.go).
var reported = []Name{
	CertificateRequestApproved, CertificateRequestNotApproved, "late_manifest_not_applied", "operator_setup_failed", "reboots_for_node",
}

// Known reports whether an event is in the catalogue, or is sent by controllers.
func Known(name Name) bool {
	_, known := catalogue[name]
	return known || slices.Contains(reported, name)
}

// Catalogue lists every event, by name.
func Catalogue() []Entry {
	var out []Entry
	for _, name := range slices.Sorted(maps.Keys(catalogue)) {
		e := catalogue[name]
		out = append(out, Entry{name, e.severity, slices.Clone(e.props), e.message, quiet[name].every, quiet[name].why})
	}
	return out
}
