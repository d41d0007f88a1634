package helm_test

import (
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"slipway/internal/testing/pgtest"
	"slipway/test/built"
	"slipway/test/hub"
)

// Helm installs a release against the API server, and reports it deployed when its Job has succeeded and its pods are ready: the test
// binds pods to a node of its own, which runs them as processes. A second release changes no key.
func TestReleaseIsReady(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("SKIP: pods with roots of their own need root")
	}
	helm, temporal, binary := tool(t, "HELM"), tool(t, "TEMPORAL_CLI"), built.Binary(t)
	c := hub.Start(t, controllers)
	url := pgtest.URL(t)
	port := built.FreePorts(t, 4)
	tr := trial{port, port + 1, port + 2, net.JoinHostPort("127.0.0.1", strconv.Itoa(port+3)), url}
	startTemporal(t, temporal, tr.temporal)
	objects := built.Folder(t, "objects")
	require.NoError(t, os.Chmod(objects, 0o777)) //nolint:gosec // the pods' user writes there
	makeNamespace(t, c, namespace)

	k := &kubelet{Hub: c, binary: binary, files: []string{socketOf(t, url), objects}, objects: objects, seen: map[types.UID]bool{}}
	values := tr.values(t)
	release := func(action string) string {
		command := exec.Command(helm, action, "lab", chart, "--namespace", namespace, "--kubeconfig", c.Kubeconfig, //nolint:gosec // the test's
			"--values", values, "--set", "api.replicas=1,worker.replicas=1", "--wait", "--timeout", "10m")
		p := hub.Run(t, "helm "+action, filepath.Join(t.TempDir(), "helm.log"), command)
		k.until(t, p.Ended)
		require.Equal(t, 0, p.ProcessState.ExitCode(), text(t, p))
		return text(t, p)
	}
	require.Contains(t, release("install"), "STATUS: deployed")
	before, err := c.Client.CoreV1().Secrets(namespace).Get(t.Context(), "lab-slipway-keys", metav1.GetOptions{})
	require.NoError(t, err)
	require.Contains(t, release("upgrade"), "STATUS: deployed")
	after, err := c.Client.CoreV1().Secrets(namespace).Get(t.Context(), "lab-slipway-keys", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, before.Data, after.Data)
	require.Equal(t, before.UID, after.UID)
}

// kubelet stands in for scheduler and kubelet: it binds pods, runs them, asks their probes and writes their status, as
// https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/ says.
type kubelet struct {
	*hub.Hub
	binary, objects string
	files           []string
	seen            map[types.UID]bool
}

// until takes each new pod until something has ended.
func (k *kubelet) until(t *testing.T, ended <-chan struct{}) {
	t.Helper()
	for {
		list, err := k.Client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		for _, p := range list.Items {
			if !k.seen[p.UID] {
				k.seen[p.UID] = true
				k.take(t, &p)
			}
		}
		select {
		case <-ended:
			return
		case <-time.After(lookEvery):
		}
	}
}

// lookEvery is how often the kubelet looks for new pods.
const lookEvery = 200 * time.Millisecond

// take runs one pod: to its end, or until it is ready.
func (k *kubelet) take(t *testing.T, p *corev1.Pod) {
	t.Helper()
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: p.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: "here"}}
	require.NoError(t, k.Client.CoreV1().Pods(namespace).Bind(t.Context(), binding, metav1.CreateOptions{}))
	spec := p.Spec.DeepCopy()
	for i, env := range spec.Containers[0].Env {
		if env.Name == "SLIPWAY_BLOB_URL" {
			spec.Containers[0].Env[i].Value = "file://" + k.objects
		}
	}
	n := &node{binary: k.binary, files: k.files, contents: k.contents(t)}
	running := n.start(t, pod{p.Labels["app.kubernetes.io/component"], p.ObjectMeta, *spec})
	container := spec.Containers[0]
	status := corev1.ContainerStatus{Name: container.Name, Image: container.Image}
	if spec.RestartPolicy == corev1.RestartPolicyNever {
		<-running.Ended
		require.Equal(t, 0, running.ProcessState.ExitCode(), text(t, running))
		status.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: 0}
		k.report(t, p, corev1.PodSucceeded, status, corev1.ConditionFalse)
		return
	}
	// The certificate is verified by TestPodsRunAsProcesses; a kubelet does not.
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, //nolint:gosec // as a kubelet
	}}
	for _, probe := range []*corev1.Probe{container.StartupProbe, container.ReadinessProbe} {
		passes(t, client, running, container, probe)
	}
	started := true
	status.Ready, status.Started = true, &started
	status.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.Now()}
	k.report(t, p, corev1.PodRunning, status, corev1.ConditionTrue)
}

// report writes the status of a pod.
func (k *kubelet) report(t *testing.T, p *corev1.Pod, phase corev1.PodPhase, status corev1.ContainerStatus, ready corev1.ConditionStatus) {
	t.Helper()
	current, err := k.Client.CoreV1().Pods(namespace).Get(t.Context(), p.Name, metav1.GetOptions{})
	require.NoError(t, err)
	now := metav1.Now()
	current.Status = corev1.PodStatus{Phase: phase, StartTime: &now, PodIP: "127.0.0.1", ContainerStatuses: []corev1.ContainerStatus{status}}
	for condition, value := range map[corev1.PodConditionType]corev1.ConditionStatus{
		corev1.PodScheduled: corev1.ConditionTrue, corev1.PodInitialized: corev1.ConditionTrue,
		corev1.ContainersReady: ready, corev1.PodReady: ready,
	} {
		current.Status.Conditions = append(current.Status.Conditions, corev1.PodCondition{
			Type: condition, Status: value, LastTransitionTime: now,
		})
	}
	_, err = k.Client.CoreV1().Pods(namespace).UpdateStatus(t.Context(), current, metav1.UpdateOptions{})
	require.NoError(t, err)
}

// contents reads the Secrets and ConfigMaps of the namespace.
func (k *kubelet) contents(t *testing.T) map[string]map[string][]byte {
	t.Helper()
	all := map[string]map[string][]byte{}
	secrets, err := k.Client.CoreV1().Secrets(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for _, secret := range secrets.Items {
		all[secret.Name] = secret.Data
	}
	maps, err := k.Client.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for _, m := range maps.Items {
		content := map[string][]byte{}
		for key, value := range m.Data {
			content[key] = []byte(value)
		}
		all[m.Name] = content
	}
	return all
}
