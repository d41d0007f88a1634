package netns_test

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
)

// joins are faults of hosts that join a cluster which is there already.
var joins = []fault{{
	name: "machine config server away", fails: []symptom{onHost("ignition-downloadable", "could not")},
	inject: asked(noNodeConfig),
}}

// noNodeConfig takes the machine config server off the network.
func noNodeConfig(_ context.Context, b *bench, _ *host) (func() error, error) {
	address := nodeConfigs + "/24 dev br0"
	return func() error { return b.lan.All("addr add " + address) }, b.lan.All("addr del " + address)
}

// joining makes a bench in the same network: an existing cluster, of which only the machine config server runs, and one more host.
func (b *bench) joining(t *testing.T) *bench {
	t.Helper()
	b.lan.serveNodeConfigs(t)
	imported, err := b.client.ImportCluster(t.Context(), wire.ImportClusterParams{
		Name: "netns-joined", APIVipDnsname: nodeConfigs, OpenshiftClusterID: uuid.New(),
	})
	require.NoError(t, err)
	made := &bench{lan: b.lan, client: b.client, cluster: imported.ID}
	made.image = discover(t, b.client, "netns-joined_infra-env", imported.ID)
	h := b.lan.plug(t, len(b.hosts))
	h.boot(t, agentOptions{
		program: absolute(t, *agent), tools: filepath.Join(b.lan.dir, "tools"), url: made.image.ServiceURL,
		infraEnv: made.image.InfraEnvID.String(), version: made.image.AgentVersion,
	})
	made.hosts = []*host{h}
	go made.watch(t.Context())
	made.await(t, 5*time.Minute, "the host that joins", made.known)
	return made
}

// serveNodeConfigs runs a machine config server.
func (l *lan) serveNodeConfigs(t *testing.T) {
	t.Helper()
	listener := l.Listen(t, "tcp4", ":22624") // its address comes and goes
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"ignition":{"version":"3.2.0"}}`)
	})}
	t.Cleanup(func() { _ = server.Close() })
	go func() { _ = server.Serve(listener) }()
}
