package activities

import (
	"fmt"

	"slipway/internal/images/release"
	"slipway/internal/model"
)

// Constants of installations without an installer (DUMMY_IGNITION): valid Ignition, so
// that simulated machines apply and boot it, with the units that the installer starts, and credentials that open nothing.
const (
	dummyBootstrap = `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/opt/openshift/dummy","mode":420,` +
		`"contents":{"source":"data:,dummy"}}]},"systemd":{"units":[` +
		`{"name":"bootkube.service","contents":"[Service]\nType=oneshot\nExecStart=/bin/true\n"},` +
		`{"name":"approve-csr.service","contents":"[Service]\nType=oneshot\nExecStart=/bin/true\n"},` +
		`{"name":"progress.service","contents":"[Service]\nType=oneshot\nExecStart=/bin/true\n"}]}}`
	dummyRole       = `{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://api-int.%s.%s:22623/config/%s"}]}}}`
	dummyKubeconfig = `apiVersion: v1
kind: Config
current-context: admin
clusters: [{name: dummy, cluster: {server: "https://api.%s.%s:6443"}}]
contexts: [{name: admin, context: {cluster: dummy, user: admin}}]
users: [{name: admin, user: {}}]
`
	dummyPassword = model.Secret("dummy-dummy-dummy-dummy")
	dummyMetadata = `{"clusterName":%q,"clusterID":%q,"infraID":%q}`
	dummyLog      = "no installer was run: DUMMY_IGNITION is set\n"
)

// dummyFiles stand in for what an installer writes.
func dummyFiles(c *model.Cluster) *release.Output {
	role := func(pool model.Role) []byte { return fmt.Appendf(nil, dummyRole, c.Name, c.BaseDNSDomain, pool) }
	return &release.Output{
		Bootstrap: []byte(dummyBootstrap), Master: role(model.RoleMaster), Worker: role(model.RoleWorker), Arbiter: role(model.RoleArbiter),
		Kubeconfig:        fmt.Appendf(nil, dummyKubeconfig, c.Name, c.BaseDNSDomain),
		KubeadminPassword: dummyPassword,
		Metadata:          fmt.Appendf(nil, dummyMetadata, c.Name, c.ID, c.Name),
		Log:               dummyLog,
	}
}
