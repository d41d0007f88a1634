package steps_test

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/agent/agenttest"
)

const (
	// token is sent by agents to the service; it must not be seen elsewhere.
	token = "the-token-of-the-bench"
	// waitMax is how long a test waits for what must happen, on a busy machine.
	waitMax = 2 * time.Minute
)

// service registers the agent of a host, in the network of the host.
type service struct {
	*agenttest.Service
	programs map[string][]byte // agents to become, by version
}

// serve starts a server in the network.
func (l *lan) serve(t *testing.T, address string, handler http.Handler) *httptest.Server {
	t.Helper()
	s := &httptest.Server{
		Listener: l.Listen(t, "tcp", address),
		Config:   &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: waitMax},
	}
	t.Cleanup(s.Close)
	return s
}

func newService(t *testing.T, l *lan) *service {
	t.Helper()
	s := &service{agenttest.New(waitMax), map[string][]byte{}}
	s.Handle("GET /api/assisted-install/v2/clusters/{cluster}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"kind":"AddHostsCluster"}`)
	})
	s.Handle("GET /agent/{name}", func(w http.ResponseWriter, r *http.Request) {
		var program []byte
		s.Read(func() { program = s.programs[r.PathValue("name")] })
		_, _ = w.Write(program)
	})
	l.serve(t, net.JoinHostPort(gateway, "8090"), s).Start()
	return s
}

// versions lists the versions of the agents that registered, in their order.
func (s *service) versions() (versions []string) {
	for _, header := range s.Seen().Registrations {
		versions = append(versions, header.Get("discovery_agent_version"))
	}
	return versions
}

// awaitVersions waits until so many agents have registered, which must be of these versions.
func (s *service) awaitVersions(t *testing.T, versions ...string) {
	t.Helper()
	s.Wait(t, "as many registrations", func() bool { return len(s.Registrations) == len(versions) })
	require.Equal(t, versions, s.versions())
}
