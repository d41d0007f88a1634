package events_test

import (
	"encoding/csv"
	"os"
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
	e := events.New(events.ClusterOperatorStatus, events.Subject{}, events.Props{"operator_name": "cvo", "status": "available"}, time.Time{})
	require.Equal(t, "Operator cvo is available", e.Message)
}

// TestCatalogueHoldsEveryEventOfTheContract compares with the events that clients of
// openshift/assisted-service know.
func TestCatalogueHoldsEveryEventOfTheContract(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/catalogue.csv")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	table := csv.NewReader(file)
	table.Comment = '#'
	rows, err := table.ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"type", "name", "severity", "category", "properties"}, rows[0])
	require.Len(t, rows, 1+80)
	for _, row := range rows[1:] {
		e := events.New(events.Name(row[1]), events.Subject{}, nil, time.Time{})
		require.Equal(t, row[2], string(e.Severity), row[1])
		require.Equal(t, row[3], e.Category, row[1])
		require.NotEmpty(t, e.Message)
	}
}
