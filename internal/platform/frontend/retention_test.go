package frontend_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/frontend"
)

func TestRetentionIsWholeDays(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"24h", "72h", "720h", "87600h"} {
		d, err := time.ParseDuration(good)
		require.NoError(t, err)
		require.NoError(t, frontend.CheckRetention(d), good)
	}
	for bad, found := range map[string]string{"0s": "0s", "-24h": "-24h0m0s", "23h": "23h0m0s", "36h": "36h0m0s", "24h1s": "24h0m1s"} {
		d, err := time.ParseDuration(bad)
		require.NoError(t, err)
		require.EqualError(t, frontend.CheckRetention(d), "require whole days in hours, at least 24h, such as 720h, found "+found)
	}
}
