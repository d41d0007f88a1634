package metrics_test

import (
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"slipway/internal/platform/metrics"
)

func TestEndOfACertificateIsReadOnRequest(t *testing.T) {
	t.Parallel()
	end, reason := time.Unix(1900000000, 0), error(nil)
	r := prometheus.NewRegistry()
	r.MustRegister(metrics.NewCertificate(func() (time.Time, error) { return end, reason }))
	require.Equal(t, []string{"1.9e+09"}, lines(t, r, "slipway_certificate_end_seconds"))
	end = time.Unix(2000000000, 0)
	require.Equal(t, []string{"2e+09"}, lines(t, r, "slipway_certificate_end_seconds"))
	reason = errors.New("no such file")
	require.Empty(t, lines(t, r, "slipway_certificate_end_seconds"))
}
