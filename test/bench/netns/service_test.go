package netns_test

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/client"
	"slipway/internal/cluster/openshift"
	"slipway/internal/sim"
	"slipway/internal/wire"
	"slipway/test/built"
)

const (
	serviceAddress = gateway + ":8090"
	serviceURL     = "http://" + serviceAddress
	version        = "4.20.5"
	// pullSecret is one in form only: nothing is installed here.
	pullSecret = `{"auths":{"registry.bench.example":{"auth":"YmVuY2g6YmVuY2g="},"cloud.openshift.com":{"auth":"YmVuY2g6YmVuY2g="},"quay.io":{"auth":"YmVuY2g6YmVuY2g="},"registry.redhat.io":{"auth":"YmVuY2g6YmVuY2g="}}}`
)

// startService runs `slipway up` in the network of the hosts, where alone it is reached.
func startService(t *testing.T, l *lan, program string, env ...string) *client.Client {
	t.Helper()
	offers, err := json.Marshal([]openshift.Release{{
		Version: version, DisplayName: version, CPUArchitectures: []string{"x86_64", "arm64"}, SupportLevel: "production", Default: true,
		Image: "registry.bench.example/release:" + version,
	}})
	require.NoError(t, err)
	// The service must not replace the agents under test by its own.
	env = append(env, "RELEASE_IMAGES="+string(offers), "ENABLE_UPGRADE_AGENT=false",
		"AUTH_TYPE=none", "SLIPWAY_INSECURE_OPEN=true", built.PlainHTTP, built.ExistingUser()) // the network is a namespace of its own
	l.Start(t, filepath.Join(l.dir, "service.log"), env, program,
		"up", "--data-dir", filepath.Join(l.dir, "service"), "--listen", serviceAddress, "--temporal-port", "0")
	transport := &http.Client{Transport: &http.Transport{DialContext: l.Dial}}
	require.Eventually(t, func() bool {
		response, err := transport.Get(serviceURL + "/ready")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	}, 3*time.Minute, 100*time.Millisecond, "the service is not ready")
	return client.New(client.Options{BaseURL: serviceURL, UserAgent: "slipway-bench", HTTPClient: transport})
}

// define makes the cluster and returns what its discovery image gives an agent.
func define(t *testing.T, c *client.Client) (cluster uuid.UUID, image sim.Discovery) {
	t.Helper()
	domain, masters := clusterDomain, controlPlane
	made, err := c.RegisterCluster(t.Context(), wire.ClusterCreateParams{
		Name: clusterName, OpenshiftVersion: version, PullSecret: pullSecret, BaseDNSDomain: &domain, ControlPlaneCount: &masters,
	})
	require.NoError(t, err)
	return made.ID, discover(t, c, "netns_infra-env", made.ID)
}

// discover makes a discovery image of a cluster and reads what it gives an agent.
func discover(t *testing.T, c *client.Client, name string, cluster uuid.UUID) sim.Discovery {
	t.Helper()
	env, err := c.RegisterInfraEnv(t.Context(), wire.InfraEnvCreateParams{Name: name, PullSecret: pullSecret, ClusterID: &cluster})
	require.NoError(t, err)
	config, err := c.DiscoveryIgnition(t.Context(), env.ID)
	require.NoError(t, err)
	image, err := sim.ReadDiscovery(config)
	require.NoError(t, err)
	return image
}

// controlPlane is how many hosts are masters: the first ones.
const controlPlane = 3

// setRoles gives every host its role, so that links are held to one limit from the start.
func (b *bench) setRoles(ctx context.Context) error {
	for _, h := range b.hosts {
		role := wire.HostUpdateParamsHostRoleWorker
		if h.index < controlPlane {
			role = wire.HostUpdateParamsHostRoleMaster
		}
		if _, err := b.client.UpdateHost(ctx, b.image.InfraEnvID, h.id, wire.HostUpdateParams{HostRole: &role}); err != nil {
			return err
		}
	}
	return nil
}

// update changes the cluster.
func (b *bench) update(ctx context.Context, params wire.V2ClusterUpdateParams) error {
	_, err := b.client.UpdateCluster(ctx, b.cluster, params)
	return err
}
