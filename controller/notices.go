package controller

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"slipway/internal/wire"
)

// notice is an event of the service about the new cluster.
type notice struct {
	name, message string
	// about names the object: the same message about it is sent once.
	about   string
	warning bool
	host    *Host
	props   map[string]any
	at      time.Time // zero: now
}

// sendOnce sends a notice unless this controller has sent it. An event that cannot be sent is no reason to fail: the
// log has it.
func (c *controller) sendOnce(ctx context.Context, n notice) {
	key := n.name + " " + n.about
	if c.sent[key] == n.message {
		return
	}
	c.Log.WarnContext(ctx, "notice", "event", n.name, "message", n.message)
	if c.send(ctx, n) == nil {
		c.sent[key] = n.message
	}
}

// decided keeps a decision about a certificate request for sendDecisions: requests are approved while the service does not answer, too.
func (c *controller) decided(n notice) {
	n.at, n.props = c.Now(), map[string]any{wire.PropCertificateRequest: n.about}
	c.decisions = append(c.decisions, n)
}

// sendDecisions sends the decisions that the service does not have, the oldest first. What cannot be sent is left for the next round.
func (c *controller) sendDecisions(ctx context.Context) {
	for len(c.decisions) > 0 && c.send(ctx, c.decisions[0]) == nil {
		c.decisions = c.decisions[1:]
	}
}

func (c *controller) send(ctx context.Context, n notice) error {
	if n.at.IsZero() {
		n.at = c.Now()
	}
	event := wire.Event{
		ClusterID: c.ClusterID, EventTime: wire.DateTime(n.at), Name: n.name, Message: n.message,
		Severity: wire.EventSeverityInfo, Category: wire.EventCategoryUser,
	}
	if n.warning {
		event.Severity = wire.EventSeverityWarning
	}
	if n.host != nil && n.host.ID != uuid.Nil {
		event.HostID, event.InfraEnvID = n.host.ID, n.host.InfraEnvID
	}
	if n.props != nil {
		props, err := json.Marshal(n.props)
		if err != nil {
			return err
		}
		event.Props = string(props)
	}
	err := c.Service.TriggerEvent(ctx, event)
	c.note(ctx, "send event "+n.name, err)
	return err
}
