package bench_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/client"
	"slipway/internal/cluster/openshift"
	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/sim/payload"
	"slipway/internal/wire"
)

// release is installed in benchmarks of installations.
const release = "4.20.5"

// readyLimit is for the last evaluations of a large cluster.
const readyLimit = 5 * time.Minute

// installer is a service with a release in a registry on loopback; its installer is a stand-in.
type installer struct {
	*service
	pullSecret string
}

func newInstaller(tb testing.TB) *installer {
	tb.Helper()
	return newInstallerOf(tb, &service{})
}

// newInstallerOf starts a service with the settings of s.
func newInstallerOf(tb testing.TB, s *service) *installer {
	tb.Helper()
	needs(tb)
	demo, err := filepath.Abs(filepath.Join(filepath.Dir(*program), "slipway-demo"))
	require.NoError(tb, err)
	registry, err := payload.Serve(tb.Context(), payload.Options{
		Versions: []string{release}, Architecture: "amd64", HostArchitecture: runtime.GOARCH, InstallerCommand: []string{demo, "installer"},
	})
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = registry.Close() })
	offered, err := json.Marshal([]openshift.Release{{
		Version: release, DisplayName: release, CPUArchitectures: []string{"x86_64"}, SupportLevel: "production", Default: true,
		Image: registry.ReleaseImage(release),
	}})
	require.NoError(tb, err)
	auth := base64.StdEncoding.EncodeToString([]byte("bench:bench"))
	s.tb = tb
	s.arguments = []string{"--insecure-registry", registry.Address(), "--installer-user", "0", "--installer-paths", demo}
	// Agents of benchmarks fetch no images: the address is in steps only.
	s.env = []string{"RELEASE_IMAGES=" + string(offered), "IMAGE_SERVICE_BASE_URL=http://127.0.0.1:1"}
	return &installer{
		service:    launch(s),
		pullSecret: fmt.Sprintf(`{"auths":{%q:{"auth":%q},"cloud.openshift.com":{"auth":%[2]q}}}`, registry.Address(), auth),
	}
}

// install discovers hosts for a new cluster and installs it; took is from the command to the end.
func (i *installer) install(name string, hosts int, limit time.Duration) (c *cluster, took time.Duration) {
	i.tb.Helper()
	c = i.newClusterOf(name, release, i.pullSecret)
	c.discover(hosts)
	c.becomesReady()
	a := i.holdWithin(time.Second, c.machines)
	begun := time.Now()
	_, err := i.client.InstallCluster(i.tb.Context(), c.id)
	require.NoError(i.tb, err)
	c.completes(limit)
	took = time.Since(begun)
	a.end()
	return c, took
}

// becomesReady answers what the hosts are asked until the cluster can be installed.
func (c *cluster) becomesReady() {
	c.tb.Helper()
	for deadline := time.Now().Add(readyLimit); c.status() != wire.ClusterStatusReady; time.Sleep(time.Second) {
		if time.Now().After(deadline) {
			stands, err := c.client.Cluster(c.tb.Context(), c.id)
			require.NoError(c.tb, err)
			require.Equal(c.tb, wire.ClusterStatusReady, stands.Status, "%s; hosts: %s; %s", stands.StatusInfo, c.statuses(), stands.ValidationsInfo)
		}
		c.answer()
	}
}

func (c *cluster) status() (status wire.ClusterStatus) {
	c.tb.Helper()
	require.NoError(c.tb, c.tables.QueryRow(c.tb.Context(), `select status from clusters where id = $1`, c.id).Scan(&status))
	return status
}

// ends are the statuses that an installation does not leave by itself.
var ends = []wire.ClusterStatus{
	wire.ClusterStatusInstalled, wire.ClusterStatusError, wire.ClusterStatusCancelled, wire.ClusterStatusInstallingPendingUserAction,
	wire.ClusterStatusReady, wire.ClusterStatusInsufficient,
}

// completes reports what the controller does when the cluster is finalizing, and waits until it is installed.
func (c *cluster) completes(limit time.Duration) {
	c.tb.Helper()
	await := func(what string, statuses ...wire.ClusterStatus) {
		eventually(c.tb, what, limit, func() bool { return slices.Contains(statuses, c.status()) })
	}
	await("hosts installed", append(ends, wire.ClusterStatusFinalizing)...)
	if c.status() == wire.ClusterStatusFinalizing {
		require.NoError(c.tb, c.reportCompletion(c.tb.Context()))
		await("installation completed", ends...)
	}
	if c.status() != wire.ClusterStatusInstalled {
		stands, err := c.client.Cluster(c.tb.Context(), c.id)
		require.NoError(c.tb, err)
		require.Equal(c.tb, wire.ClusterStatusInstalled, stands.Status, "%s; hosts: %s", stands.StatusInfo, c.statuses())
	}
}

// reportCompletion sends what the controller does (docs/reference/controller.md, "Finalizing") of a cluster whose operators
// are available at once. What fails is repeated, as there.
func (c *cluster) reportCompletion(ctx context.Context) error {
	again := client.WithRetry(callLimit)
	reporter := c.controllerClient()
	enter := func(stage wire.FinalizingStage) error { return reporter.FinalizingProgress(ctx, c.id, stage, again) }
	if err := enter(wire.FinalizingStageWaitingForClusterOperators); err != nil {
		return err
	}
	operators, err := reporter.MonitoredOperators(ctx, c.id, again)
	if err != nil {
		return err
	}
	for _, o := range operators {
		report := wire.OperatorMonitorReport{Name: o.Name, Status: wire.OperatorStatusAvailable, Version: release}
		if err := reporter.ReportOperator(ctx, c.id, report, again); err != nil {
			return err
		}
	}
	if err := enter(wire.FinalizingStageAddingRouterCa); err != nil {
		return err
	}
	ca, err := routerCA()
	if err != nil {
		return err
	}
	if err := reporter.UploadIngressCert(ctx, c.id, ca, again); err != nil {
		return err
	}
	for _, stage := range []wire.FinalizingStage{
		wire.FinalizingStageWaitingForOlmOperatorsCsvInitialization, wire.FinalizingStageApplyingOlmManifests,
		wire.FinalizingStageWaitingForOlmOperatorsCsv, wire.FinalizingStageWaitingForOLMOperatorSetupJobs, wire.FinalizingStageDone,
	} {
		if err := enter(stage); err != nil {
			return err
		}
	}
	return reporter.CompleteInstallation(ctx, c.id, wire.CompletionParams{IsSuccess: true}, again)
}

// controllerClient returns a client with the credential that a host of the cluster got for its controller.
func (c *cluster) controllerClient() *client.Client {
	c.tb.Helper()
	for _, m := range c.machines {
		if token := m.controller.Load(); token != nil {
			return c.clientWith(client.Options{Token: model.Secret(*token)})
		}
	}
	return c.client // no credential is asked for
}

// routerCA makes a certificate that signs itself.
func routerCA() (string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ingress-operator"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})), nil
}

// leave reports whether the steps that a machine was given reboot it. Of one that is installed, the stages of the new system
// are reported as its controller does; one that is reclaimed is silent.
func (m *machine) leave(l *line, given []wire.Step) (rebooted bool, err error) {
	of := func(step wire.StepType) bool {
		return slices.ContainsFunc(given, func(s wire.Step) bool { return s.StepType == step })
	}
	if of(wire.StepTypeRebootForReclaim) {
		return true, nil
	}
	if !of(steps.Reboot) {
		return false, nil
	}
	for _, stage := range []wire.HostStage{wire.HostStageConfiguring, wire.HostStageJoined, wire.HostStageDone} {
		status, body, err := l.call(m.progress(stage), callLimit)
		if err != nil {
			return true, err
		}
		if status != http.StatusOK {
			return true, fmt.Errorf("report stage %s: answered %d %s", stage, status, body)
		}
	}
	return true, nil
}

func (m *machine) progress(stage wire.HostStage) []byte {
	path := fmt.Sprintf("/api/assisted-install/v2/infra-envs/%s/hosts/%s/progress", m.infraEnv, m.id)
	return send(http.MethodPut, path, wire.HostProgress{CurrentStage: &stage})
}
