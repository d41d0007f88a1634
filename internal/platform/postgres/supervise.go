package postgres

import (
	"context"
	"fmt"
	"time"
)

// restartPauses are the waits before the attempts to start a server that died. When all attempts fail the
// database is given up, and with it the service.
var restartPauses = []time.Duration{
	0, 100 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second,
}

// stableAfter is the time a server has to run for its end to count as a new failure, and not as one more of a
// series that calls for longer pauses.
const stableAfter = 3 * time.Second

// supervise restarts the server whenever it dies, until life ends. It then stops the server gracefully, until
// calm ends.
func (p *Server) supervise(life, calm context.Context, server *postmaster) {
	defer close(p.done)
	series := 0
	for server != nil {
		begin := p.options.Now()
		select {
		case <-life.Done():
			p.err = server.end(calm.Done())
			return
		case <-server.done:
		}
		if series++; p.options.Now().Sub(begin) > stableAfter {
			series = 0
		}
		p.live.Store(nil)
		p.logger.Error("database ended unexpectedly", "exit", server.exit, "reason", p.messages.reason())
		server, p.err = p.restart(life, restartPauses[min(series, len(restartPauses)-1)])
	}
}

// restart returns no server and no error when life has ended meanwhile.
func (p *Server) restart(life context.Context, least time.Duration) (*postmaster, error) {
	var failure error
	for _, pause := range restartPauses {
		timer := time.NewTimer(max(pause, least))
		select {
		case <-life.Done():
			timer.Stop()
			return nil, nil
		case <-timer.C:
		}
		server, err := p.launch(life)
		if err == nil {
			p.logger.Info("database started again", "pid", server.pid())
			return server, nil
		}
		if life.Err() != nil {
			return nil, nil //nolint:nilerr // the end of the service is no failure of the database
		}
		p.logger.Warn("database could not be started", "error", err)
		failure = err
	}
	return nil, fmt.Errorf("start database again: %w", failure)
}
