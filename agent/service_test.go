package agent_test

import (
	"net/http/httptest"
	"testing"

	"slipway/agent/agenttest"
	"slipway/internal/testing/await"
)

// service is the service an agent registers with, on loopback.
type service struct {
	*agenttest.Service
	*httptest.Server
}

func newService(t *testing.T) *service {
	t.Helper()
	s := agenttest.New(await.Limit(t))
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return &service{s, server}
}
