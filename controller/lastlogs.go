package controller

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"slipway/internal/client"
	"slipway/internal/wire"
)

const (
	// lastLogsTime is for how long the last logs are tried to be sent to a service that answers, as by openshift/assisted-installer.
	lastLogsTime = 70 * time.Minute
	// lastLogsAway is for how long they are kept for a service that does not.
	lastLogsAway = 24 * time.Hour
)

// lastLogs are the logs at the end of an installation until the service has them. They are packed once.
type lastLogs struct {
	failed   bool // what explains a failure is among them
	begun    time.Time
	since    time.Time // begun, or when the service did not answer last
	announce bool      // the service knows that they come
	packed   *archive
	uploaded bool
}

// sendLastLogs sends the last logs, or what is missing of them. They count as sent when the service has them, or when their time
// is over.
func (c *controller) sendLastLogs(ctx context.Context, failed bool) {
	if c.last != nil && c.last.failed != failed {
		c.dropLastLogs()
	}
	if c.last == nil {
		c.last = &lastLogs{failed: failed, begun: c.Now(), since: c.Now()}
	}
	err := c.continueLastLogs(ctx)
	c.note(ctx, "send the last logs", err)
	if c.last.packed != nil && isAway(err) {
		c.last.since = c.Now()
	}
	switch tried := c.Now().Sub(c.last.begun); {
	case err == nil:
	case c.Now().Sub(c.last.since) > lastLogsTime || tried > lastLogsAway:
		c.Log.WarnContext(ctx, "the last logs were not sent", "after", tried.Round(time.Minute))
	default:
		return
	}
	c.lastLogsSent = true
	c.dropLastLogs()
}

// owesLastLogs tries to send what is left of the last logs, and reports whether there is still something to send.
func (c *controller) owesLastLogs(ctx context.Context) bool {
	if c.last != nil {
		c.sendLastLogs(ctx, c.last.failed)
	}
	return c.last != nil
}

func (c *controller) continueLastLogs(ctx context.Context) error {
	l := c.last
	if !l.announce {
		err := c.Service.ClusterLogsProgress(ctx, c.ClusterID, wire.LogsStateRequested)
		c.note(ctx, "report that logs are sent", err) // they are sent without it
		l.announce = err == nil
	}
	if l.packed == nil {
		packed, err := newArchive(c.Now())
		if err != nil {
			return fmt.Errorf("pack logs: %w", err)
		}
		if err := c.pack(ctx, packed, true, l.failed); err != nil {
			packed.remove()
			return fmt.Errorf("pack logs: %w", err)
		}
		l.packed = packed
	}
	if !l.uploaded {
		if err := c.upload(ctx, l.packed); err != nil {
			return err
		}
		l.uploaded = true
	}
	if err := c.Service.ClusterLogsProgress(ctx, c.ClusterID, wire.LogsStateCompleted); err != nil {
		return fmt.Errorf("report that logs were sent: %w", err)
	}
	return nil
}

// isAway reports whether the service did not answer a request, itself or behind its proxy.
func isAway(err error) bool {
	var reply *client.Error
	if !errors.As(err, &reply) {
		return err != nil
	}
	return slices.Contains([]int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, reply.Status)
}

func (c *controller) dropLastLogs() {
	if c.last != nil && c.last.packed != nil {
		c.last.packed.remove()
	}
	c.last = nil
}
