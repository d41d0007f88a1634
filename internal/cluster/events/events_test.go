package events_test

import (
	"encoding/csv"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/events"
	"slipway/internal/model"
)

func TestMessageNamesItsProperties(t *testing.T) {
	t.Parallel()
	id := uuid.New()
	e := events.New(events.HostStatusUpdated, events.Subject{HostID: &id, HostName: "master-0"},
		events.Props{"src_status": "known", "new_status": "error", "info": "no disk"}, time.Unix(1, 0))
	require.Equal(t, "Host master-0 went from known to error: no disk", e.Message)
	require.Equal(t, model.SeverityError, e.Severity)
	require.Equal(t, "user", e.Category)
	require.Equal(t, &id, e.HostID)
}

func TestMissingPropertyLeavesNoBraces(t *testing.T) {
	t.Parallel()
	e := events.New(
		events.ClusterOperatorStatus,
		events.Subject{},
		events.Props{"operator_name": "cvo", "status": "available"},
		time.Time{},
	)
	require.Equal(t, "Operator cvo is available", e.Message)
}

// TestCatalogueAgreesWithTheV2API compares names, severities, categories and properties with the events of the assisted-service: each
// of its events is in the catalogue, or in notEmitted with a reason, and the catalogue has no other but ownEvents.
func TestCatalogueAgreesWithTheV2API(t *testing.T) {
	t.Parallel()
	ours := map[string]events.Entry{}
	for _, e := range events.Catalogue() {
		ours[string(e.Name)] = e
	}
	for _, want := range v2Events(t) {
		name := want[1]
		if reason, ok := notEmitted[name]; ok {
			require.NotEmpty(t, reason)
			require.NotContains(t, ours, name, "an event is emitted or it is not")
			continue
		}
		e := ours[name]
		require.Equal(t, want[2], string(e.Severity), name)
		require.Equal(t, want[3], events.New(e.Name, events.Subject{}, nil, time.Time{}).Category, name)
		require.Equal(t, propertiesBesideTheSubject(want[4]), strings.Join(slices.Sorted(slices.Values(e.Props)), " "), name)
		require.NotEmpty(t, e.Message)
		delete(ours, name)
	}
	for name, reason := range ownEvents {
		require.NotEmpty(t, reason)
		require.Contains(t, ours, name)
		delete(ours, name)
	}
	require.Empty(t, ours, "events that no client knows")
}

// ownEvents are the events that only Slipway has, with the reason.
var ownEvents = map[string]string{
	"upgrade_agent_refused":  "agents verify the signature of their next program",
	"bytes_of_hosts_refused": "only Slipway bounds what is kept from hosts",
	"command_refused":        "only Slipway takes commands through Temporal",
	"cluster_undeleted":      "only Slipway brings deleted clusters back",
	"installation_continued": "only Slipway has workflows that can be lost",

	"release_unverified": "only Slipway verifies releases",
	"release_verified":   "only Slipway verifies releases",

	"host_registration_unproven": "only Slipway has tokens of hosts",
	"host_approved":              "only Slipway has tokens of hosts",
}

// v2Events returns the rows of testdata/catalogue.csv.
func v2Events(t *testing.T) [][]string {
	t.Helper()
	file, err := os.Open("testdata/catalogue.csv")
	require.NoError(t, err)
	defer file.Close()
	reader := csv.NewReader(file)
	reader.Comment = '#'
	rows, err := reader.ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"type", "name", "severity", "category", "properties"}, rows[0])
	require.Len(t, rows, 1+80)
	return rows[1:]
}

// propertiesBesideTheSubject sorts the names out of "name:type, name:type", without the ids
// of the subject, which every event carries in fields of its own.
func propertiesBesideTheSubject(list string) string {
	var names []string
	for _, property := range strings.Split(list, ", ") {
		if name, _, _ := strings.Cut(property, ":"); name != "cluster_id" && name != "host_id" && name != "infra_env_id" {
			names = append(names, name)
		}
	}
	return strings.Join(slices.Sorted(slices.Values(names)), " ")
}
