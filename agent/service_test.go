package agent_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"slipway/agent/agenttest"
)

// waitMax is how long a test waits for what must happen.
const waitMax = 30 * time.Second

// service is what an agent registers with, on loopback.
type service struct {
	*agenttest.Service
	*httptest.Server
}

func newService(t *testing.T) *service {
	t.Helper()
	s := agenttest.New(waitMax)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return &service{s, server}
}
