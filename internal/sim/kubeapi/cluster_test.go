package kubeapi_test

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	certv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"slipway/internal/sim/kubeapi"
	"slipway/internal/testing/await"
)

// nextRequest waits for the next certificate request.
func nextRequest(t *testing.T, stream watch.Interface) *certv1.CertificateSigningRequest {
	t.Helper()
	for event := range stream.ResultChan() {
		if event.Type == watch.Added {
			return event.Object.(*certv1.CertificateSigningRequest)
		}
	}
	t.Fatal("the watch ended")
	return nil
}

func answer(
	ctx context.Context,
	t *testing.T,
	client kubernetes.Interface,
	csr *certv1.CertificateSigningRequest,
	kind certv1.RequestConditionType,
) {
	t.Helper()
	csr.Status.Conditions = []certv1.CertificateSigningRequestCondition{
		{Type: kind, Status: corev1.ConditionTrue, Message: "says the test"},
	}
	_, err := client.CertificatesV1().CertificateSigningRequests().UpdateApproval(ctx, csr.Name, csr, metav1.UpdateOptions{})
	require.NoError(t, err)
}

func TestKubeletJoinsWhenItsRequestsAreApproved(t *testing.T) {
	t.Parallel()
	_, url := start(t, kubeapi.Options{})
	ctx, client := await.Context(t), clientOf(t, url, kubeapi.UserAdmin)
	requests := client.CertificatesV1().CertificateSigningRequests()
	stream, err := requests.Watch(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	defer stream.Stop()
	spec := kubeapi.NodeSpec{
		Name: "worker-0", Addresses: []netip.Addr{netip.MustParseAddr("192.168.1.20")}, Roles: []string{"worker"},
		ReadyAfter: 50 * time.Millisecond, Poll: 10 * time.Millisecond,
	}
	ended := make(chan error, 1)
	go func() { ended <- kubeapi.RunKubelet(ctx, url, spec) }()

	csr := nextRequest(t, stream)
	require.Equal(t, kubeapi.UserNodeBootstrapper, csr.Spec.Username)
	require.Contains(t, csr.Spec.Groups, "system:serviceaccounts:openshift-machine-config-operator")
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	require.Empty(t, nodes.Items, "no node before the client certificate")
	answer(ctx, t, client, csr, certv1.CertificateApproved)

	csr = nextRequest(t, stream)
	require.Equal(t, "system:node:worker-0", csr.Spec.Username)
	require.Contains(t, csr.Spec.Groups, "system:nodes")
	node, err := client.CoreV1().Nodes().Get(ctx, "worker-0", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, corev1.ConditionFalse, node.Status.Conditions[0].Status)
	answer(ctx, t, client, csr, certv1.CertificateApproved)

	require.NoError(t, <-ended)
	node, err = client.CoreV1().Nodes().Get(ctx, "worker-0", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, corev1.ConditionTrue, node.Status.Conditions[0].Status)
	require.Contains(t, node.Labels, "node-role.kubernetes.io/worker")
	require.Contains(t, node.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: "192.168.1.20"})

	csr, err = requests.Get(ctx, csr.Name, metav1.GetOptions{})
	require.NoError(t, err)
	block, _ := pem.Decode(csr.Status.Certificate)
	certificate, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	require.Equal(t, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, certificate.ExtKeyUsage)
	require.True(t, certificate.IPAddresses[0].Equal(net.ParseIP("192.168.1.20")))
	require.Equal(t, []string{"worker-0"}, certificate.DNSNames)

	require.NoError(t, kubeapi.RunKubelet(ctx, url, spec), "a node that is ready has nothing to do")
}

func TestKubeletEndsWhenItIsDenied(t *testing.T) {
	t.Parallel()
	_, url := start(t, kubeapi.Options{})
	ctx, client := await.Context(t), clientOf(t, url, kubeapi.UserAdmin)
	stream, err := client.CertificatesV1().CertificateSigningRequests().Watch(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	defer stream.Stop()
	ended := make(chan error, 1)
	go func() {
		ended <- kubeapi.RunKubelet(ctx, url, kubeapi.NodeSpec{Name: "worker-0", Poll: 10 * time.Millisecond})
	}()
	answer(ctx, t, client, nextRequest(t, stream), certv1.CertificateDenied)
	require.ErrorIs(t, <-ended, kubeapi.ErrCSRDenied)
}

func TestKubeletContinuesWhenItAndTheAPIAreKilled(t *testing.T) {
	t.Parallel()
	journal := filepath.Join(t.TempDir(), "kube.journal")
	first, url := start(t, kubeapi.Options{Journal: journal})
	ctx := await.Context(t)
	spec := kubeapi.NodeSpec{Name: "worker-0", Poll: 10 * time.Millisecond}
	stream, err := clientOf(t, url, kubeapi.UserAdmin).CertificatesV1().CertificateSigningRequests().Watch(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	life, kill := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- kubeapi.RunKubelet(life, url, spec) }()
	asked := nextRequest(t, stream)
	kill()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.NoError(t, first.Close(ctx))

	go func() { ended <- kubeapi.RunKubelet(ctx, url, spec) }() // the API is away
	second, err := kubeapi.New(kubeapi.Options{Journal: journal})
	require.NoError(t, err)
	_, err = second.Start(strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, second.Close(context.Background())) })
	client := clientOf(t, url, kubeapi.UserAdmin)
	again, err := client.CertificatesV1().CertificateSigningRequests().Watch(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	defer again.Stop()
	csr := nextRequest(t, again)
	require.Equal(t, asked.UID, csr.UID, "the request made before")
	answer(ctx, t, client, csr, certv1.CertificateApproved)
	answer(ctx, t, client, nextRequest(t, again), certv1.CertificateApproved)
	require.NoError(t, <-ended)
}

func TestApprovedRequestsToOtherSignersWait(t *testing.T) {
	t.Parallel()
	_, url := start(t, kubeapi.Options{})
	ctx, requests := await.Context(t), clientOf(t, url, "alice").CertificatesV1().CertificateSigningRequests()
	csr, err := requests.Create(ctx, &certv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "other"},
		Spec:       certv1.CertificateSigningRequestSpec{SignerName: "example.com/signer", Username: "system:admin"},
		Status:     certv1.CertificateSigningRequestStatus{Certificate: []byte("forged")},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, "alice", csr.Spec.Username, "whoever the sender claims to be")
	require.Empty(t, csr.Status)
	csr.Status.Conditions = []certv1.CertificateSigningRequestCondition{{Type: certv1.CertificateApproved, Status: corev1.ConditionTrue}}
	csr.Status.Certificate = []byte("forged")
	csr, err = requests.UpdateApproval(ctx, "other", csr, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Len(t, csr.Status.Conditions, 1)
	require.Empty(t, csr.Status.Certificate)
}

func TestRolloutWaitsForMasters(t *testing.T) {
	t.Parallel()
	_, url := start(t, kubeapi.Options{})
	ctx, client := await.Context(t), clientOf(t, url, kubeapi.UserAdmin)
	objects, err := dynamic.NewForConfig(kubeapi.Config(url, kubeapi.UserAdmin))
	require.NoError(t, err)
	operators := objects.Resource(schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "clusteroperators"})
	stream, err := operators.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=console"})
	require.NoError(t, err)
	defer stream.Stop()
	rollout := kubeapi.Rollout{
		ControlPlane: 1, Duration: 50 * time.Millisecond, Version: "4.20.1", Domain: "test.example.com", Poll: 10 * time.Millisecond,
	}
	ended := make(chan error, 1)
	go func() { ended <- kubeapi.RunRollout(ctx, url, rollout) }()
	require.Equal(t, watch.Added, (<-stream.ResultChan()).Type)
	require.Equal(
		t,
		"Deploying console",
		(<-stream.ResultChan()).Object.(*unstructured.Unstructured).Object["status"].(map[string]any)["simulated"],
	)

	nodes := client.CoreV1().Nodes()
	node, err := nodes.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: "sno", Labels: map[string]string{"node-role.kubernetes.io/master": ""},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	_, err = nodes.UpdateStatus(ctx, node, metav1.UpdateOptions{})
	require.NoError(t, err)

	require.NoError(t, <-ended)
	published, err := client.CoreV1().ConfigMaps("openshift-config-managed").Get(ctx, "default-ingress-cert", metav1.GetOptions{})
	require.NoError(t, err)
	require.Contains(t, published.Data["ca-bundle.crt"], "BEGIN CERTIFICATE")
	require.NoError(t, kubeapi.RunRollout(ctx, url, rollout), "once more changes nothing")
}

// A set whose machines are never made keeps a cluster from becoming available.
func TestRolloutWaitsForTheMachinesOfAControlPlaneSet(t *testing.T) {
	t.Parallel()
	_, url := start(t, kubeapi.Options{})
	ctx, client := await.Context(t), clientOf(t, url, kubeapi.UserAdmin)
	objects, err := dynamic.NewForConfig(kubeapi.Config(url, kubeapi.UserAdmin))
	require.NoError(t, err)
	sets := objects.Resource(schema.GroupVersionResource{Group: "machine.openshift.io", Version: "v1", Resource: "controlplanemachinesets"})
	set := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "machine.openshift.io/v1", "kind": "ControlPlaneMachineSet", "metadata": map[string]any{"name": "cluster"},
	}}
	_, err = sets.Namespace("openshift-machine-api").Create(ctx, set, metav1.CreateOptions{})
	require.NoError(t, err)
	ready := []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	node, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: "master", Labels: map[string]string{"node-role.kubernetes.io/master": ""},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	node.Status.Conditions = ready
	_, err = client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
	require.NoError(t, err)
	operators := objects.Resource(schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "clusteroperators"})
	running, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- kubeapi.RunRollout(running, url, kubeapi.Rollout{
			ControlPlane: 1, Duration: 50 * time.Millisecond, Version: "4.20.1", Domain: "test.example.com", Poll: 10 * time.Millisecond,
		})
	}()
	await.True(t, func() bool {
		operator, err := operators.Get(ctx, "control-plane-machine-set", metav1.GetOptions{})
		_, published := client.CoreV1().ConfigMaps("openshift-config-managed").Get(ctx, "default-ingress-cert", metav1.GetOptions{})
		return err == nil && published == nil && strings.Contains(fmt.Sprint(operator.Object["status"]), "missing 1 available replica(s)")
	})
	cancel()
	require.Error(t, <-ended, "everything else is available, and the rollout does not end")
}

// As pods, operators do not run on a node that waits for its cloud.
func TestRolloutWaitsForTheCloudOfItsMasters(t *testing.T) {
	t.Parallel()
	_, url := start(t, kubeapi.Options{})
	ctx, client := await.Context(t), clientOf(t, url, kubeapi.UserAdmin)
	nodes := client.CoreV1().Nodes()
	taint := corev1.Taint{Key: "node.cloudprovider.kubernetes.io/uninitialized", Value: "true", Effect: corev1.TaintEffectNoSchedule}
	node, err := nodes.Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "master", Labels: map[string]string{"node-role.kubernetes.io/master": ""}},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{taint}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	_, err = nodes.UpdateStatus(ctx, node, metav1.UpdateOptions{})
	require.NoError(t, err)
	rollout := kubeapi.Rollout{ControlPlane: 1, Version: "4.20.1", Domain: "test.example.com", Poll: 10 * time.Millisecond}
	waiting, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, kubeapi.RunRollout(waiting, url, rollout), context.DeadlineExceeded)
	go kubeapi.RunCloud(ctx, url, 10*time.Millisecond)
	require.NoError(t, kubeapi.RunRollout(ctx, url, rollout))
	initialized, err := nodes.Get(ctx, "master", metav1.GetOptions{})
	require.NoError(t, err)
	require.Empty(t, initialized.Spec.Taints)
	require.NotEmpty(t, initialized.Spec.ProviderID)
}

func TestServerAnswersNoClientWhileItIsAway(t *testing.T) {
	t.Parallel()
	server, url := start(t, kubeapi.Options{})
	ctx, client := await.Context(t), clientOf(t, url, kubeapi.UserAdmin)
	stream, err := client.CoreV1().Nodes().Watch(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	server.SetAway(true)
	for range stream.ResultChan() { // ends
	}
	_, err = client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	require.ErrorContains(t, err, "EOF")
	server.SetAway(false)
	_, err = client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
}
