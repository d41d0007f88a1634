package client_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/client"
	"slipway/internal/wire"
)

func TestUploadLogsSendsAFormAgainAfterAFailure(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("log line\n", 200_000)
	var calls atomic.Int32
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		file, header, err := r.FormFile("upfile")
		if err != nil || header.Filename != "logs.tar.gz" || r.URL.Query().Get("host_id") != hostID.String() ||
			r.URL.Query().Get("logs_type") != "host" || r.URL.Query().Get("infra_env_id") != envID.String() {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		got, _ := io.ReadAll(file)
		if string(got) != content {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(service.Close)
	err := client.New(client.Options{BaseURL: service.URL}).UploadLogs(t.Context(), client.LogsUpload{
		ClusterID: clusterID, Type: wire.LogsTypeHost, InfraEnvID: envID, HostID: hostID, FileName: "logs.tar.gz",
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil },
	}, client.WithRetry(time.Minute))
	require.NoError(t, err)
	require.EqualValues(t, 2, calls.Load())
}

func TestClusterLogsAreWrittenOut(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.URL.Query().Get("logs_type"))
	}))
	t.Cleanup(service.Close)
	var out bytes.Buffer
	err := client.New(client.Options{BaseURL: service.URL}).ClusterLogs(t.Context(), clusterID, wire.LogsTypeController, hostID, &out)
	require.NoError(t, err)
	require.Equal(t, "controller", out.String())
}
