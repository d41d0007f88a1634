package events_test

import (
	"os"
	"regexp"
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

func TestCatalogueHoldsEveryEventOfTheContract(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../../../shared/contract/events.md")
	if err != nil {
		t.Skip("SKIP: the contract is not beside this checkout")
	}
	row := regexp.MustCompile(`(?m)^\| (?:cluster|host|infra_env) \| (\S+) \| (\w+) \| (\w+) \|`)
	for _, m := range row.FindAllStringSubmatch(string(doc), -1) {
		e := events.New(events.Name(m[1]), events.Subject{}, nil, time.Time{})
		require.Equal(t, m[2], string(e.Severity), m[1])
		require.Equal(t, m[3], e.Category, m[1])
		require.NotEmpty(t, e.Message)
	}
}
