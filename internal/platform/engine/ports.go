package engine

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"go.temporal.io/server/common/primitives"
)

// loopback is the only address the bundled Temporal server listens on; serverName is its name in certificates.
const (
	loopback   = "127.0.0.1"
	serverName = "localhost"
)

// services are the services of one Temporal server, in the order of their ports.
var services = []primitives.ServiceName{
	primitives.FrontendService, primitives.HistoryService, primitives.MatchingService, primitives.WorkerService,
}

// PortTakenError is returned when a port the Temporal server needs is in use.
type PortTakenError struct {
	Port    int
	Service string // frontend, history, matching or worker
}

func (e *PortTakenError) Error() string {
	return fmt.Sprintf("port %d for Temporal's %s service is taken by another process", e.Port, e.Service)
}

// CheckPorts returns a *PortTakenError when StartTemporal could not listen on base and the three ports after
// it. Zero is always valid: it means any free ones.
func CheckPorts(base int) error {
	_, err := claimPorts(base)
	return err
}

// claimPorts checks that the services can listen from base on, or finds free ports when base is zero. The
// server listens a moment later, so this only gives the usual case a clear message.
func claimPorts(base int) (map[primitives.ServiceName]int, error) {
	ports := map[primitives.ServiceName]int{}
	for i, service := range services {
		port := base
		if base != 0 {
			port = base + i
		}
		listener, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port))) //nolint:noctx // returns at once
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, &PortTakenError{Port: port, Service: string(service)}
		}
		if err != nil {
			return nil, fmt.Errorf("listen for Temporal's %s service: %w", service, err)
		}
		// All stay open until the last is found, or the same free port comes twice.
		defer listener.Close()
		ports[service] = listener.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}
