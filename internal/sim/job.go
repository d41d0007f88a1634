package sim

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// The Job that runs the controller in a new cluster.
const (
	controllerJob       = "assisted-installer-controller"
	controllerNamespace = "assisted-installer"
	controllerSecret    = "assisted-installer-controller-secret"
	tokenKey            = "pull-secret-token" // in the secret
)

// maxSum bounds the answer with the hash of a program, in bytes.
const maxSum = 1 << 10

// startable checks what the controller needs to run: the Job is in the cluster, a registry has its image, and its command fetches the
// program that it expects.
func (o ControllerOptions) startable(ctx context.Context, kube kubernetes.Interface) error {
	job, err := kube.BatchV1().Jobs(controllerNamespace).Get(ctx, controllerJob, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("find the job of the controller: %w", err)
	}
	container := containerOf(job)
	if container == nil {
		return fmt.Errorf("job %s has no container", controllerJob)
	}
	// RHCOS looks for a name without a registry in public ones, which have what somebody published.
	registry, _, ok := strings.Cut(container.Image, "/")
	if !ok || !strings.ContainsAny(registry, ".:") {
		return fmt.Errorf("ErrImagePull: require an image with its registry, found %q", container.Image)
	}
	if len(container.Command) == 0 {
		return nil
	}
	architecture, err := architectureOf(ctx, kube)
	if err != nil {
		return err
	}
	return o.fetchable(ctx, kube, container, machineName(architecture))
}

// architectureOf returns the architecture of the nodes, as Go names it.
func architectureOf(ctx context.Context, kube kubernetes.Interface) (string, error) {
	nodes, err := kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil || len(nodes.Items) == 0 {
		return runtime.GOARCH, err
	}
	return nodes.Items[0].Labels[corev1.LabelArchStable], nil
}

func containerOf(job *batchv1.Job) *corev1.Container {
	if len(job.Spec.Template.Spec.Containers) == 0 {
		return nil
	}
	return &job.Spec.Template.Spec.Containers[0]
}

// fetchable reports whether the command of the Job (installer/manifests/start.sh) takes the program of the service: its hash is in the
// Job, or the service that names it has a certificate that the command verifies, as a service that was upgraded since.
func (o ControllerOptions) fetchable(
	ctx context.Context, kube kubernetes.Interface, container *corev1.Container, machine string,
) error {
	address := strings.TrimSuffix(o.ServiceURL, "/") + "/controller/slipway-controller-" + machine + ".sha256"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Transport: o.Transport}).Do(request)
	if err != nil {
		return fmt.Errorf("fetch the controller: %w", err)
	}
	defer response.Body.Close()
	sum, err := io.ReadAll(io.LimitReader(response.Body, maxSum))
	if err != nil {
		return fmt.Errorf("fetch the controller: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("fetch the controller: require %s, found status %d", address, response.StatusCode)
	}
	known := func(v corev1.EnvVar) bool {
		return v.Name == "SHA256SUMS" && strings.Contains(v.Value, strings.TrimSpace(string(sum))+"  "+machine+"\n")
	}
	if slices.ContainsFunc(container.Env, known) {
		return nil
	}
	skip, err := valueOf(ctx, kube, container, "SKIP_CERT_VERIFICATION")
	if err != nil {
		return err
	}
	if skip == "true" || !strings.HasPrefix(o.ServiceURL, "https:") {
		return fmt.Errorf("require the hash %s of the controller for %s in job %s", strings.TrimSpace(string(sum)), machine, controllerJob)
	}
	return nil
}

// valueOf returns a variable of a container; its value may be in a ConfigMap.
func valueOf(ctx context.Context, kube kubernetes.Interface, container *corev1.Container, name string) (string, error) {
	for _, v := range container.Env {
		if v.Name != name {
			continue
		}
		if v.ValueFrom == nil || v.ValueFrom.ConfigMapKeyRef == nil {
			return v.Value, nil
		}
		from := v.ValueFrom.ConfigMapKeyRef
		config, err := kube.CoreV1().ConfigMaps(controllerNamespace).Get(ctx, from.Name, metav1.GetOptions{})
		if err != nil {
			return "", fmt.Errorf("CreateContainerConfigError: %w", err)
		}
		return config.Data[from.Key], nil
	}
	return "", nil
}

// machineName returns an architecture as uname prints it.
func machineName(architecture string) string {
	if name, ok := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[architecture]; ok {
		return name
	}
	return architecture
}
