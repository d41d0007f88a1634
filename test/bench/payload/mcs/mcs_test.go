package mcs_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/coreos/ignition/v2/config/v3_2"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"slipway/internal/sim/payload/pki"
	"slipway/test/bench/payload/mcs"
	"slipway/test/bench/payload/plan"
)

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func server(t *testing.T) (*mcs.Server, *bytes.Buffer) {
	t.Helper()
	keys := pki.Keys(t.TempDir())
	for _, name := range []string{pki.APISigner, pki.Bootstrapper, "clients"} {
		made, err := pki.Authority(name, now)
		require.NoError(t, err)
		require.NoError(t, keys.Store(name, made))
	}
	var lines bytes.Buffer
	return &mcs.Server{
		Plan: &plan.Cluster{Domain: "bench.bench.example"}, Keys: keys, Fetches: &lines, Log: slog.New(slog.DiscardHandler),
		Objects: func(context.Context) ([]*unstructured.Unstructured, error) { return nil, nil },
		Now:     func() time.Time { return now },
	}, &lines
}

func ask(s *mcs.Server, path string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, path, nil)
	request.RemoteAddr = "192.0.2.7:40520"
	request.Header.Set("User-Agent", "Ignition/2.27.0")
	answer := httptest.NewRecorder()
	s.Handler().ServeHTTP(answer, request)
	return answer
}

func TestRolesAreServedAndNoted(t *testing.T) {
	t.Parallel()
	s, lines := server(t)
	for _, role := range []string{"master", "worker"} {
		answer := ask(s, "/config/"+role)
		require.Equal(t, http.StatusOK, answer.Code)
		_, report, err := v3_2.Parse(answer.Body.Bytes())
		require.NoError(t, err, report.String())
	}
	require.Equal(t, `2030-01-02T03:04:05Z stderr F I0102 03:04:05.000000       1 api.go:65] Pool master requested by `+
		`address:"192.0.2.7:40520" User-Agent:"Ignition/2.27.0" Accept-Header: ""`, string(bytes.Split(lines.Bytes(), []byte("\n"))[0]))
	require.Equal(t, http.StatusNotFound, ask(s, "/config/stranger").Code)
}

func TestAFetcherIsToldToAskAgainWhileMachineConfigsAreUnknown(t *testing.T) {
	t.Parallel()
	s, _ := server(t)
	s.Objects = func(context.Context) ([]*unstructured.Unstructured, error) { return nil, errors.New("no API") }
	require.Equal(t, http.StatusServiceUnavailable, ask(s, "/config/master").Code)
}
