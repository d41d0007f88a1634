package kube_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	admission "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"slipway/api/kube/agentinstall"
	"slipway/api/kube/hiveext"
	"slipway/api/kube/webhook"
	"slipway/internal/testing/await"
	"slipway/test/built"
)

func object(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "one", Name: name} }

// twice makes an InfraEnv that the webhook refuses, and the definition does not.
func twice(name string) *agentinstall.InfraEnv {
	return &agentinstall.InfraEnv{ObjectMeta: object(name), Spec: agentinstall.InfraEnvSpec{
		PullSecretRef: &corev1.LocalObjectReference{Name: "pull"}, OSImageVersion: "4.20",
		ClusterRef: &agentinstall.ClusterReference{Namespace: "one", Name: "cluster"},
	}}
}

// awaitRefusal waits until the API server asks the webhook.
func (tr *trial) awaitRefusal(t *testing.T) {
	t.Helper()
	var err error
	await.True(t, func() bool {
		err = tr.kube.Create(t.Context(), twice("both"), kube.DryRunAll)
		return err != nil
	}, "the API server does not ask the webhook")
	require.ErrorContains(t, err, "spec: require clusterRef or osImageVersion, found both")
	require.True(t, apierrors.IsBadRequest(err), "%v", err)
}

func TestChangesThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	tr := start(t)
	address := built.FreeAddress(t)
	tr.run(t, "--webhook-listen", address, "--webhook-url", "https://"+address, "--lease-namespace", "slipway")
	tr.awaitRefusal(t)

	// Each is made, and each change of it is refused: by the webhook, or by the definition.
	requirements := hiveext.ProvisionRequirements{ControlPlaneAgents: 1}
	install := &hiveext.AgentClusterInstall{ObjectMeta: object("cluster"), Spec: hiveext.AgentClusterInstallSpec{
		ClusterDeploymentRef: corev1.LocalObjectReference{Name: "cluster"}, ProvisionRequirements: requirements,
		ImageSetRef: &hiveext.ClusterImageSetReference{Name: "first"},
	}}
	env := &agentinstall.InfraEnv{ObjectMeta: object("env"), Spec: agentinstall.InfraEnvSpec{
		PullSecretRef: &corev1.LocalObjectReference{Name: "pull"},
	}}
	class := &agentinstall.AgentClassification{ObjectMeta: object("class"), Spec: agentinstall.AgentClassificationSpec{
		LabelKey: "size", LabelValue: "large", Query: ".cpu.count > 1",
	}}
	agent := &agentinstall.Agent{ObjectMeta: object("agent"), Spec: agentinstall.AgentSpec{
		ClusterDeploymentName: &agentinstall.ClusterReference{Namespace: "one", Name: "cluster"},
	}}
	for _, o := range []kube.Object{install, env, class} {
		require.NoError(t, tr.kube.Create(t.Context(), o))
	}
	for message, c := range map[string]struct {
		object kube.Object
		patch  string
	}{
		"imageSetRef: require no change after the creation":     {install, `{"spec":{"imageSetRef":{"name":"second"}}}`},
		"imageSetRef: require no change after the creation ":    {install, `{"spec":{"imageSetRef":null}}`},
		"spec.networking.userManagedNetworking: require true":   {install, `{"spec":{"networking":{"userManagedNetworking":false}}}`},
		"clusterRef: require no change after the creation":      {env, `{"spec":{"clusterRef":{"name":"a","namespace":"one"}}}`},
		"cpuArchitecture: require no change after the creation": {env, `{"spec":{"cpuArchitecture":"aarch64"}}`},
		"require the label of the creation: Agents have it":     {class, `{"spec":{"labelKey":"width"}}`},
		"require the label of the creation: Agents have it ":    {class, `{"spec":{"labelValue":"small"}}`},
	} {
		err := tr.kube.Patch(t.Context(), c.object.DeepCopyObject().(kube.Object), kube.RawPatch("application/merge-patch+json", []byte(c.patch)))
		require.ErrorContains(t, err, strings.TrimSpace(message), c.patch)
	}
	class.ObjectMeta, class.Spec.LabelValue = object("wrong"), "QUERYERROR-a"
	require.ErrorContains(t, tr.kube.Create(t.Context(), class), "require one that does not begin with QUERYERROR")
	agent.Spec.InstallationDiskID, agent.Spec.InstallationDiskPath = "/dev/disk/by-id/a", "/dev/sda"
	require.ErrorContains(t, tr.kube.Create(t.Context(), agent, kube.DryRunAll),
		"require installation_disk_id or installation_disk_path, found both")
	agent.Spec.InstallationDiskID, agent.Spec.ClusterDeploymentName.Namespace = "", "two"
	require.ErrorContains(t, tr.kube.Create(t.Context(), agent, kube.DryRunAll), "require the Agent's namespace one, found two")

	tr.kill(t)
	require.NoError(t, tr.kube.Create(t.Context(), twice("away"), kube.DryRunAll), "a hub stays usable without the webhook")
	tr.run(t, "--webhook-listen", address, "--webhook-url", "https://"+address, "--lease-namespace", "slipway")
	tr.awaitRefusal(t)
}

// A process that starts later finds the Secret and renews what is near its end, while the API server keeps to trust the former authority.
func TestCertificateOfTheWebhookIsReplacedInTime(t *testing.T) {
	t.Parallel()
	tr := startHub(t)
	address := built.FreeAddress(t)
	const day = 24 * time.Hour
	serve := func(later time.Duration) (*corev1.Secret, []string, *x509.Certificate) {
		w, err := webhook.New(webhook.Options{
			Listen: address, URL: "https://" + address + "/", Namespace: "one", Log: slog.New(slog.DiscardHandler),
			Now: func() time.Time { return time.Now().Add(later) },
		})
		require.NoError(t, err)
		m, err := ctrl.NewManager(tr.Config, ctrl.Options{
			Scheme: tr.kube.Scheme(), WebhookServer: w.Server(), Metrics: server.Options{BindAddress: "0"},
		})
		require.NoError(t, err)
		require.NoError(t, w.Register(m))
		ended := make(chan error, 1)
		ctx, stop := context.WithCancel(t.Context())
		go func() { ended <- m.Start(ctx) }()
		defer func() {
			stop()
			require.NoError(t, <-ended)
		}()
		var serving *x509.Certificate
		await.True(t, func() bool { // the process has read the Secret
			connection, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // to look at it
			if err != nil {
				return false
			}
			serving = connection.ConnectionState().PeerCertificates[0]
			return connection.Close() == nil
		}, "the webhook does not serve")
		secret := &corev1.Secret{}
		require.NoError(t, tr.kube.Get(t.Context(), kube.ObjectKey{Namespace: "one", Name: "slipway-kube-webhook"}, secret))
		await.True(t, func() bool {
			found := &admission.ValidatingWebhookConfiguration{}
			return tr.kube.Get(t.Context(), kube.ObjectKey{Name: "slipway-kube"}, found) == nil && len(found.Webhooks) == 3 &&
				string(found.Webhooks[0].ClientConfig.CABundle) == string(secret.Data["ca.crt"])
		}, "the webhook is not configured")
		tr.awaitRefusal(t)
		return secret, authorities(t, secret.Data["ca.crt"]), serving
	}
	_, first, serving := serve(0)
	require.Len(t, first, 1)
	_, again, same := serve(59 * day)
	require.Equal(t, first, again)
	require.True(t, serving.Equal(same), "a process that starts again keeps the certificate")
	_, again, renewed := serve(61 * day)
	require.Equal(t, first, again)
	require.False(t, serving.Equal(renewed), "30 days before its end a certificate is replaced")
	_, both, other := serve((4*365 + 1) * day)
	require.Len(t, both, 2, "a year before its end an authority is replaced")
	require.Equal(t, first[0], both[1], "the former one is trusted until its end")
	require.False(t, renewed.Equal(other))
	secret, third, _ := serve((2*4*365 + 2) * day)
	require.Equal(t, []string{both[0]}, third[1:], "an authority that has ended is left out")

	secret.Data["tls.key"] = []byte("damaged")
	require.NoError(t, tr.kube.Update(t.Context(), secret))
	_, repaired, _ := serve((2*4*365 + 2) * day)
	require.Equal(t, third, repaired)
	require.NoError(t, tr.kube.Delete(t.Context(), secret))
	_, fresh, _ := serve(0)
	require.Len(t, fresh, 1)
	require.NotContains(t, repaired, fresh[0])
}

func authorities(t *testing.T, bundle []byte) (list []string) {
	t.Helper()
	for {
		var block *pem.Block
		if block, bundle = pem.Decode(bundle); block == nil {
			return list
		}
		_, err := x509.ParseCertificate(block.Bytes)
		require.NoError(t, err)
		list = append(list, string(block.Bytes))
	}
}
