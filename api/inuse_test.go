package api_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// joining makes a cluster that takes hosts and a host that is added to it.
func (s *service) joining(change func(*model.Host)) (wire.Cluster, wire.Host) {
	s.t.Helper()
	c := s.cluster(nil)
	e := s.infraEnv(uuid.Nil)
	h := s.host(e.ID)
	s.changeCluster(c.ID, func(c *model.Cluster) { c.Kind, c.Status = model.KindAddHostsCluster, model.ClusterAddingHosts })
	s.changeHost(e.ID, h.ID, func(h *model.Host) {
		h.ClusterID, h.Kind = &c.ID, model.KindAddToExistingClusterHost
		change(h)
	})
	return c, s.readHost(e.ID, h.ID)
}

func TestNothingIsTakenFromAHostThatIsInstalledIntoACluster(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c, h := s.joining(func(h *model.Host) { h.Status = model.HostInstallingInProgress })
	env := "/v2/infra-envs/" + h.InfraEnvID.String()
	require.Contains(t, s.send(http.MethodDelete, clusterPath(c.ID), nil).Reason(http.StatusConflict), "found 1")
	s.send(http.MethodDelete, env, nil).Reason(http.StatusConflict)
	s.send(http.MethodDelete, hostPath(h.InfraEnvID, h.ID), nil).Reason(http.StatusConflict)
	s.send(http.MethodPost, hostPath(h.InfraEnvID, h.ID)+"/actions/unbind", nil).Reason(http.StatusConflict)
	require.Equal(t, "installing-in-progress", string(s.readHost(h.InfraEnvID, h.ID).Status))
}

func TestWaitForADecisionEndsWithWhatItIsAbout(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*service, wire.Cluster, wire.Host){
		"the host is deleted": func(s *service, _ wire.Cluster, h wire.Host) {
			s.want(http.StatusNoContent, http.MethodDelete, hostPath(h.InfraEnvID, h.ID), nil)
		},
		"the host leaves": func(s *service, _ wire.Cluster, h wire.Host) {
			s.want(http.StatusOK, http.MethodPost, hostPath(h.InfraEnvID, h.ID)+"/actions/unbind", nil)
		},
		"the cluster is deleted": func(s *service, c wire.Cluster, _ wire.Host) {
			s.want(http.StatusNoContent, http.MethodDelete, clusterPath(c.ID), nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			c, h := s.joining(func(h *model.Host) { h.Status, h.DecisionOpen = model.HostError, true })
			leave(s, c, h)
			require.Contains(t, s.orchestrator.commands, "release host "+h.ID.String())
		})
	}
}

func TestHostOfAStalledInstallationStays(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	e := s.infraEnv(c.ID)
	h := s.host(e.ID)
	s.changeCluster(c.ID, func(c *model.Cluster) { c.Status, c.DecisionOpen = model.ClusterError, true })
	require.Contains(t, s.send(http.MethodDelete, hostPath(e.ID, h.ID), nil).Reason(http.StatusConflict), "cancel the installation first")
	s.want(http.StatusNoContent, http.MethodDelete, clusterPath(c.ID), nil)
	require.Contains(t, s.orchestrator.commands, "release "+c.ID.String())
}

// Terraform deletes the environment of a cluster first.
func TestInfraEnvIsDeletedBeforeTheClusterOfItsHosts(t *testing.T) {
	t.Parallel()
	for status, deleted := range map[model.HostStatus]bool{
		"known":                          true,
		"installed":                      true,
		"error":                          true,
		"cancelled":                      true,
		"added-to-existing-cluster":      true,
		"resetting-pending-user-action":  true,
		"preparing-for-installation":     false,
		"preparing-successful":           false,
		"installing":                     false,
		"installing-in-progress":         false,
		"installing-pending-user-action": false,
	} {
		t.Run(string(status), func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			c := s.cluster(nil)
			own, pool := s.infraEnv(c.ID), s.infraEnv(uuid.Nil)
			var hosts []wire.Host
			for _, env := range []uuid.UUID{own.ID, pool.ID} {
				bound := s.host(env)
				hosts = append(hosts, bound)
				s.changeHost(env, bound.ID, func(h *model.Host) { h.ClusterID, h.Status = &c.ID, status })
				if !deleted {
					require.Contains(t, s.send(http.MethodDelete, envPath(env), nil).Reason(http.StatusConflict),
						"require no host that is being prepared or installed, found 1")
					s.want(http.StatusOK, http.MethodGet, envPath(env), nil)
					continue
				}
				s.want(http.StatusNoContent, http.MethodDelete, envPath(env), nil)
				s.send(http.MethodGet, envPath(env), nil).Reason(http.StatusNotFound)
				require.Equal(t, c.ID, s.readHost(env, bound.ID).ClusterID, "it stays in its cluster")
				s.want(http.StatusOK, http.MethodGet, hostPath(env, bound.ID)+"/instructions", nil)
				s.send(http.MethodPost, envPath(env)+"/hosts", map[string]any{"host_id": uuid.New()}).Reason(http.StatusNotFound)
			}
			if deleted {
				s.want(http.StatusNoContent, http.MethodDelete, clusterPath(c.ID), nil)
				for _, h := range hosts {
					s.send(http.MethodGet, hostPath(h.InfraEnvID, h.ID), nil).Reason(http.StatusNotFound)
				}
			}
		})
	}
}

func TestHostOfADeletedInfraEnvRegistersAgain(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	env := s.infraEnv(c.ID)
	bound := s.host(env.ID)
	s.want(http.StatusNoContent, http.MethodDelete, envPath(env.ID), nil)
	s.want(http.StatusCreated, http.MethodPost, envPath(env.ID)+"/hosts", map[string]any{"host_id": bound.ID})
	require.EqualValues(t, model.HostDiscovering, s.readHost(env.ID, bound.ID).Status)
}

func TestDeletedClusterReturnsTheHostsItBorrowed(t *testing.T) {
	t.Parallel()
	for status, want := range map[model.HostStatus]string{
		"known":                          "unbinding",
		"binding":                        "unbinding",
		"disconnected":                   "unbinding",
		"error":                          "unbinding-pending-user-action",
		"installed":                      "unbinding-pending-user-action",
		"cancelled":                      "unbinding-pending-user-action",
		"resetting":                      "unbinding-pending-user-action",
		"resetting-pending-user-action":  "unbinding-pending-user-action",
		"installing-pending-user-action": "unbinding-pending-user-action",
	} {
		t.Run(string(status), func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			c := s.cluster(nil)
			own, pool := s.infraEnv(c.ID), s.infraEnv(uuid.Nil)
			ours, borrowed := s.host(own.ID), s.host(pool.ID)
			s.changeHost(pool.ID, borrowed.ID, func(h *model.Host) { h.ClusterID, h.Status = &c.ID, status })

			s.want(http.StatusNoContent, http.MethodDelete, clusterPath(c.ID), nil)

			left := s.readHost(pool.ID, borrowed.ID)
			require.Equal(t, want, string(left.Status))
			require.Zero(t, left.ClusterID)
			s.want(http.StatusOK, http.MethodGet, hostPath(pool.ID, borrowed.ID)+"/instructions", nil)
			s.send(http.MethodGet, hostPath(own.ID, ours.ID), nil).Reason(http.StatusNotFound)
		})
	}
}
