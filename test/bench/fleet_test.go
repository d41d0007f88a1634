package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/sim"
	"slipway/internal/wire"
)

// callLimit is for requests that are answered at once, on a busy machine.
const callLimit = time.Minute

// cluster is a cluster with the environment its hosts boot from.
type cluster struct {
	*service
	id, infraEnv uuid.UUID
	agent        string // version of the agent in the discovery image
	token        string // of the discovery image; empty where none is asked for
	machines     []*machine
	// peers limits connectivity reports, where reports of thousands of hosts would be most of the measurement.
	peers int
}

const pullSecret = `{"auths":{"cloud.openshift.com":{"auth":"dXNlcjpwYXNzd29yZAo="},"quay.io":{"auth":"dXNlcjpwYXNzd29yZAo="}}}`

func (s *service) newCluster() *cluster {
	s.tb.Helper()
	return s.newClusterOf("bench", "4.22", pullSecret)
}

func (s *service) newClusterOf(name, version, pullSecret string) *cluster {
	s.tb.Helper()
	domain, network := "example.com", wire.ClusterCreateParamsNetworkType("OVNKubernetes")
	defined, err := s.client.RegisterCluster(s.tb.Context(), wire.ClusterCreateParams{
		Name: name, OpenshiftVersion: version, PullSecret: pullSecret, BaseDNSDomain: &domain, NetworkType: &network,
		APIVips: &[]wire.APIVip{{IP: "10.0.0.2"}}, IngressVips: &[]wire.IngressVip{{IP: "10.0.0.3"}},
		// A /23 for each of 2,048 hosts: the usual network has 512.
		ClusterNetworks: &[]wire.ClusterNetwork{{Cidr: "10.128.0.0/12", HostPrefix: 23}},
	})
	require.NoError(s.tb, err)
	env, err := s.client.RegisterInfraEnv(s.tb.Context(), wire.InfraEnvCreateParams{
		Name: name, PullSecret: pullSecret, ClusterID: &defined.ID,
	})
	require.NoError(s.tb, err)
	c, err := s.booted(s.tb.Context(), defined.ID, env.ID)
	require.NoError(s.tb, err)
	c.peers = math.MaxInt
	return c
}

// booted returns a cluster with what hosts boot from.
func (s *service) booted(ctx context.Context, id, infraEnv uuid.UUID) (*cluster, error) {
	config, err := s.client.DiscoveryIgnition(ctx, infraEnv)
	if err != nil {
		return nil, err
	}
	image, err := sim.ReadDiscovery(config)
	if err != nil {
		return nil, err
	}
	return &cluster{service: s, id: id, infraEnv: infraEnv, agent: image.AgentVersion, token: image.Token.Reveal()}, nil
}

// dial connects to the service until the benchmark ends.
func (s *service) dial() *line {
	s.tb.Helper()
	l, err := s.connect()
	require.NoError(s.tb, err)
	s.tb.Cleanup(l.close)
	return l
}

// send makes a request that must be answered with a status.
func (l *line) send(tb testing.TB, request []byte, want int) []byte {
	tb.Helper()
	status, body, err := l.call(request, callLimit)
	require.NoError(tb, err)
	require.Equal(tb, want, status, "%s", body)
	return body
}

// register takes n more hosts in, one after the other.
func (c *cluster) register(l *line, n int) {
	c.tb.Helper()
	for range n {
		m := newMachine(c.infraEnv, c.agent, len(c.machines), c.peers)
		l.token = c.token
		l.send(c.tb, m.register(), http.StatusCreated)
		m.token, l.renewed = l.renewed, ""
		c.machines = append(c.machines, m)
	}
}

// discover registers hosts and answers what they are asked until nothing is due.
func (c *cluster) discover(n int) {
	c.tb.Helper()
	c.register(c.dial(), n)
	const undiscovered = `select count(*) from hosts where cluster_id = $1 and status = 'discovering'`
	c.answer()
	eventually(c.tb, "hosts discovered", discoveryLimit, func() bool { return count(c.service, undiscovered, c.id) == 0 })
	eventually(c.tb, "questions answered", discoveryLimit, func() bool { return c.answer() == 0 })
	c.settled()
}

// pretend makes the hosts of a cluster known whatever their reports lack (see peers):
// of hosts that need attention more is asked, every two minutes.
func (c *cluster) pretend() {
	c.tb.Helper()
	_, err := c.tables.Exec(c.tb.Context(), `update hosts set status = 'known' where cluster_id = $1`, c.id)
	require.NoError(c.tb, err)
}

// discoverers is how many hosts are answered for at once.
const discoverers = 16

// answer polls once for every host and answers what is asked; it returns how much that was.
func (c *cluster) answer() int {
	c.tb.Helper()
	var next, asked atomic.Int64
	failures := make([]error, discoverers)
	var group sync.WaitGroup
	for i := range discoverers {
		group.Go(func() {
			l, err := c.connect()
			if err != nil {
				failures[i] = err
				return
			}
			defer l.close()
			for n := int(next.Add(1) - 1); n < len(c.machines) && failures[i] == nil; n = int(next.Add(1) - 1) {
				var steps []wire.Step
				c.machines[n].setClock() // the discovery of many hosts takes longer than clocks may differ
				steps, failures[i] = c.machines[n].answer(l, c.machines[n].poll, callLimit)
				asked.Add(int64(len(steps)))
			}
		})
	}
	group.Wait()
	for _, err := range failures {
		require.NoError(c.tb, err)
	}
	return int(asked.Load())
}

var idleAnswer = []byte(`"instructions":[]`)

// answer asks for steps and answers them.
func (m *machine) answer(l *line, request []byte, limit time.Duration) ([]wire.Step, error) {
	status, body, err := m.call(l, request, limit)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("ask for steps: answered %d %s", status, body)
	}
	if bytes.Contains(body, idleAnswer) {
		return nil, nil
	}
	var steps wire.Steps
	if err := json.Unmarshal(body, &steps); err != nil {
		return nil, fmt.Errorf("read steps: %w", err)
	}
	for _, step := range steps.Instructions {
		if l.arrived != nil {
			l.arrived(step.StepID)
		}
	}
	for _, step := range steps.Instructions {
		status, body, err := m.call(l, m.reply(step), callLimit)
		if err != nil {
			return nil, err
		}
		if status != http.StatusNoContent {
			return nil, fmt.Errorf("answer %s: answered %d %s", step.StepType, status, body)
		}
	}
	return steps.Instructions, nil
}
