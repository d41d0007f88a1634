package metrics_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"slipway/internal/platform/metrics"
)

func TestImagesAreCounted(t *testing.T) {
	t.Parallel()
	r := prometheus.NewRegistry()
	m := metrics.NewImages(r)
	m.ImageBegun(2 * time.Millisecond)
	m.ImageBegun(3 * time.Millisecond)
	m.ImageSent(5)
	m.ImageSent(6)
	m.ImageEnded()
	m.ImageAnswered("full-iso", "200")
	for name, want := range map[string]string{
		"slipway_image_requests_total": "artifact=full-iso code=200 1", "slipway_image_sent_bytes_total": "11",
		"slipway_image_bodies": "1", "slipway_image_first_byte_seconds": "2",
	} {
		require.Equal(t, []string{want}, lines(t, r, name), name)
	}
}
