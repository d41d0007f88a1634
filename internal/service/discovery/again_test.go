package discovery_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// sends posts an inventory as the answer to a question.
func (m *machine) sends(t *testing.T, id string) {
	t.Helper()
	inventory, err := json.Marshal(m.inventory())
	require.NoError(t, err)
	require.NoError(t, m.reply(t, wire.StepReply{StepType: wire.StepTypeInventory, StepID: id, Output: string(inventory)}))
}

// asked returns a machine whose inventory was read once. What is stored of it is another one: a reply that is read replaces it.
func (l *lab) asked(t *testing.T) (c *model.Cluster, m *machine) {
	t.Helper()
	c, env := l.cluster(t)
	m = l.machine(env, 0)
	m.register(t)
	m.poll(t)
	m.sends(t, "")
	l.refresh(t, c.ID)
	m.set(t, func(h *model.Host) {
		other := *h.Inventory
		other.Hostname = "other"
		h.Inventory = &other
	})
	return c, m
}

func TestTheSameInventoryIsNotReadAgain(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, m := l.asked(t)
	before := m.read(t)
	l.pass(time.Minute)
	m.sends(t, "")
	m.sends(t, before.Facts["inventory"].StepID)
	after := m.read(t)
	require.WithinRange(t, after.Facts["inventory"].AnsweredAt, before.Facts["inventory"].AnsweredAt.Add(time.Minute), l.now())
	record := after.Facts["inventory"]
	record.AnsweredAt = before.Facts["inventory"].AnsweredAt
	after.Facts["inventory"] = record
	require.Equal(t, before, after, "nothing else is another")
	m.cpus++
	m.sends(t, "")
	require.Equal(t, m.cpus, m.read(t).Inventory.CPU.Count, "another one is read")
	require.Equal(t, model.ClusterInsufficient, l.readCluster(t, c.ID).Status)
}

func TestTheSameInventoryIsReadAgainWhenItSaysMore(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		before func(t *testing.T, l *lab, c *model.Cluster, m *machine)
		id     string
		after  func(t *testing.T, c *model.Cluster, m *machine)
	}{
		"of a host that was silent": {before: func(t *testing.T, _ *lab, _ *model.Cluster, m *machine) {
			t.Helper()
			m.set(t, func(h *model.Host) { h.Status = model.HostDisconnected })
		}},
		"of a host that lost its medium": {
			before: func(t *testing.T, _ *lab, _ *model.Cluster, m *machine) {
				t.Helper()
				m.set(t, func(h *model.Host) { h.MediaStatus = model.MediaDisconnected })
			},
			after: func(t *testing.T, _ *model.Cluster, m *machine) {
				t.Helper()
				require.Equal(t, model.MediaConnected, m.read(t).MediaStatus)
			},
		},
		"to a question of a workflow": {
			before: func(t *testing.T, _ *lab, c *model.Cluster, m *machine) {
				t.Helper()
				m.arm(t, c, "inventory", "inventory-1")
			},
			id: "inventory-1",
			after: func(t *testing.T, c *model.Cluster, m *machine) {
				t.Helper()
				require.Equal(t, model.ActivityReported, m.activity(t, c, "inventory-1").State)
			},
		},
		"to another process": {before: func(t *testing.T, l *lab, _ *model.Cluster, _ *machine) {
			t.Helper()
			l.restart()
		}},
		"after another process read another one": {
			before: func(t *testing.T, l *lab, _ *model.Cluster, m *machine) {
				t.Helper()
				first := l.service
				l.restart()
				m.cpus++
				m.sends(t, "")
				m.cpus--
				l.service = first
			},
			after: func(t *testing.T, _ *model.Cluster, m *machine) {
				t.Helper()
				require.Equal(t, m.cpus, m.read(t).Inventory.CPU.Count)
			},
		},
		"after facts were dropped": {before: func(t *testing.T, _ *lab, _ *model.Cluster, m *machine) {
			t.Helper()
			m.set(t, func(h *model.Host) { h.Facts = nil })
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			c, m := l.asked(t)
			test.before(t, l, c, m)
			id := test.id
			if id != "" {
				id += "-" + m.id.String()
			}
			m.sends(t, id)
			require.Equal(t, m.hostname, m.read(t).Inventory.Hostname)
			if test.after != nil {
				test.after(t, c, m)
			}
		})
	}
}

func TestAnInventoryThatDoesNotCountIsReadWhenItDoes(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	_, m := l.asked(t)
	m.set(t, func(h *model.Host) { h.Status = model.HostInstalling })
	m.cpus++
	m.sends(t, "")
	m.sends(t, "")
	require.Equal(t, "other", m.read(t).Inventory.Hostname)
	m.set(t, func(h *model.Host) { h.Status = model.HostKnown })
	m.sends(t, "")
	require.Equal(t, m.cpus, m.read(t).Inventory.CPU.Count)
}
