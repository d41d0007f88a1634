package mcs_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coreos/ignition/v2/config/v3_4"
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

const ignition = "application/vnd.coreos.ignition+json;version=3.4.0, */*;q=0.1"

func ask(s *mcs.Server, method, path, accept string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, path, nil)
	request.RemoteAddr = "192.0.2.7:40520"
	request.Header.Set("User-Agent", "Ignition/2.27.0")
	request.Header.Set("Accept", accept)
	answer := httptest.NewRecorder()
	s.Handler().ServeHTTP(answer, request)
	return answer
}

func TestPoolsAreServedAndNoted(t *testing.T) {
	t.Parallel()
	s, lines := server(t)
	for _, pool := range []string{"master", "worker"} {
		answer := ask(s, http.MethodGet, "/config/"+pool, ignition)
		require.Equal(t, http.StatusOK, answer.Code)
		_, report, err := v3_4.Parse(answer.Body.Bytes())
		require.NoError(t, err, report.String())
	}
	require.Equal(t, `2030-01-02T03:04:05Z stderr F I0102 03:04:05.000000       1 api.go:126] Pool "master" requested by `+
		`address:"192.0.2.7:40520" User-Agent:"Ignition/2.27.0" Accept-Header: "`+ignition+`"`, strings.Split(lines.String(), "\n")[0])
}

func TestAnswersAreThoseOfTheRealServer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method, path, accept string
		bootstrap            bool
		status               int
		noted                []string
	}{
		"it is healthy":                        {"GET", "/healthz", "", true, 200, nil},
		"health is asked with HEAD":            {"HEAD", "/healthz", "", true, 200, nil},
		"other paths do not exist":             {"GET", "/", "", true, 404, nil},
		"a pool needs a name":                  {"GET", "/config/", ignition, true, 404, nil},
		"others than GET and HEAD are refused": {"POST", "/config/master", ignition, true, 405, nil},
		"also of its health":                   {"POST", "/healthz", "", true, 405, nil},
		"a bootstrap host serves no workers": {
			"GET", "/config/worker", ignition, true, 500,
			[]string{
				`Pool "worker" requested by`,
				`E0102 03:04:05.000000       1 api.go:145] couldn't get config for req: {machineConfigPool:worker version:0xc000000000}, ` +
					`error: refusing to serve bootstrap configuration to pool "worker"`,
			},
		},
		"a bootstrap host without arbiters has no pool of them": {
			"GET", "/config/arbiter", ignition, true, 404,
			[]string{
				`Pool "arbiter" requested by`, `bootstrap_server.go:70] reading file`,
				`E0102 03:04:05.000000       1 bootstrap_server.go:73] could not find file`,
			},
		},
		"a bootstrap host serves no other pools": {
			"GET", "/config/infra", ignition, true, 500,
			[]string{`Pool "infra" requested by`, `refusing to serve bootstrap configuration to pool "infra"`},
		},
		"a cluster does not know all pools": {
			"GET", "/config/infra", ignition, false, 500,
			[]string{`Pool "infra" requested by`, `could not fetch pool "infra"`},
		},
		"an unknown version is refused": {
			"GET", "/config/master", "application/vnd.coreos.ignition+json;version=4.0.0", true, 400, []string{`Pool "master" requested by`},
		},
		"no version is an old one, which the config is not converted to": {
			"GET", "/config/master", "*/*", true, 500, []string{`Pool "master"`, "api.go:158] couldn't convert config for req: {master 0x"},
		},
		"HEAD is noted as well": {"HEAD", "/config/master", ignition, true, 200, []string{`Pool "master" requested by`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, lines := server(t)
			s.Bootstrap = c.bootstrap
			answer := ask(s, c.method, c.path, c.accept)
			require.Equal(t, c.status, answer.Code)
			if answer.Code != http.StatusOK || c.path == "/healthz" {
				require.Empty(t, answer.Body.String())
				require.Equal(t, "0", answer.Header().Get("Content-Length"))
			}
			noted := strings.Split(strings.TrimSpace(lines.String()), "\n")
			if len(c.noted) == 0 {
				require.Empty(t, lines.String())
				return
			}
			require.Len(t, noted, len(c.noted))
			for n, want := range c.noted {
				require.Contains(t, noted[n], want)
			}
		})
	}
}

func TestConfigsComeInTheVersionThatWasAskedFor(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]string{"3.2.0": "3.2.0", "3.5.0": "3.5.0", "3.9.0": "3.5.0"} {
		s, _ := server(t)
		answer := ask(s, http.MethodGet, "/config/master", "application/json, application/vnd.coreos.ignition+json; version="+accept)
		require.Equal(t, http.StatusOK, answer.Code)
		require.Contains(t, answer.Body.String(), `"version":"`+want+`"`)
	}
}

func TestAFetcherAsksAgainWhileMachineConfigsAreUnknown(t *testing.T) {
	t.Parallel()
	s, _ := server(t)
	s.Objects = func(context.Context) ([]*unstructured.Unstructured, error) { return nil, errors.New("no API") }
	require.Equal(t, http.StatusInternalServerError, ask(s, http.MethodGet, "/config/master", ignition).Code)
}
