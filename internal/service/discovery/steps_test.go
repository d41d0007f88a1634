package discovery_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/steps"
	"slipway/internal/service/discovery"
)

func TestRepliesThatAreFactsAreRead(t *testing.T) {
	t.Parallel()
	for _, row := range steps.All() {
		fact := row.Reply == steps.ReplyDiscovery || row.Reply == steps.ReplyPreparation
		require.Equal(t, fact, discovery.Reads(row.Type), row.Type)
	}
}
