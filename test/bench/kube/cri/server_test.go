package cri_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"slipway/test/bench/kube/container"
	"slipway/test/bench/kube/cri"
)

// inside is the word that this program is started with in a container.
const inside = "container"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == inside {
		if err := container.Run(os.Args[2], time.Now); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// host has a kubelet's view of a host with the runtime.
type host struct {
	runtime.RuntimeServiceClient
	images runtime.ImageServiceClient
	root   string
	logs   string
}

// programs of the tests' images.
var programs = map[string]string{"shell": "/bin/sh", "registry.example:5000/one/tool:1": "/bin/echo", "missing": "/nonexistent/program"}

// needsRoot skips what makes namespaces.
func needsRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIP: containers with programs need root")
	}
}

func newHost(t *testing.T) host {
	t.Helper()
	h := host{root: t.TempDir(), logs: t.TempDir()}
	return h.restarted(t, "first boot")
}

// restarted returns the host with a new server over the same folder, in a boot.
func (h host) restarted(t *testing.T, boot string) host {
	t.Helper()
	server, err := cri.New(cri.Options{
		Root: h.root, Programs: programs, Container: []string{"/proc/self/exe", inside}, Boot: boot, Now: time.Now,
	})
	require.NoError(t, err)
	endpoint := grpc.NewServer()
	server.Register(endpoint)
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	go endpoint.Serve(listener)
	t.Cleanup(endpoint.Stop)
	connection, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { connection.Close() })
	h.RuntimeServiceClient, h.images = runtime.NewRuntimeServiceClient(connection), runtime.NewImageServiceClient(connection)
	return h
}

// pod begins a pod, which is removed with the test.
func (h host) pod(t *testing.T, name string) string {
	t.Helper()
	made, err := h.RunPodSandbox(t.Context(), &runtime.RunPodSandboxRequest{Config: &runtime.PodSandboxConfig{
		Metadata: &runtime.PodSandboxMetadata{
			Name:      name,
			Namespace: "default",
			Uid:       "uid-" + name,
		}, LogDirectory: filepath.Join(h.logs, name),
		Labels: map[string]string{"pod": name},
	}})
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := h.RemovePodSandbox(context.Background(), &runtime.RemovePodSandboxRequest{PodSandboxId: made.GetPodSandboxId()})
		require.NoError(t, err)
	})
	return made.GetPodSandboxId()
}

// start creates and starts a container.
func (h host) start(t *testing.T, pod string, config *runtime.ContainerConfig) string {
	t.Helper()
	config.Metadata, config.LogPath = &runtime.ContainerMetadata{Name: "main"}, "main/0.log"
	made, err := h.CreateContainer(t.Context(), &runtime.CreateContainerRequest{PodSandboxId: pod, Config: config})
	require.NoError(t, err)
	require.Equal(t, runtime.ContainerState_CONTAINER_CREATED, h.status(t, made.GetContainerId()).GetState())
	_, err = h.StartContainer(t.Context(), &runtime.StartContainerRequest{ContainerId: made.GetContainerId()})
	require.NoError(t, err)
	return made.GetContainerId()
}

// shell starts a container that runs a script.
func (h host) shell(t *testing.T, pod, script string) string {
	t.Helper()
	return h.start(t, pod, &runtime.ContainerConfig{Image: image("shell:1"), Args: []string{"-c", script}})
}

func image(name string) *runtime.ImageSpec {
	return &runtime.ImageSpec{Image: name, UserSpecifiedImage: name}
}

func (h host) status(t *testing.T, id string) *runtime.ContainerStatus {
	t.Helper()
	found, err := h.ContainerStatus(t.Context(), &runtime.ContainerStatusRequest{ContainerId: id})
	require.NoError(t, err)
	return found.GetStatus()
}

// ended waits until a container has ended, as a kubelet does: it asks.
func (h host) ended(t *testing.T, id string) *runtime.ContainerStatus {
	t.Helper()
	var last *runtime.ContainerStatus
	require.Eventually(t, func() bool {
		last = h.status(t, id)
		return last.GetState() == runtime.ContainerState_CONTAINER_EXITED
	}, 20*time.Second, 20*time.Millisecond)
	return last
}

// said waits until a log has a line.
func said(t *testing.T, path, line string) {
	t.Helper()
	require.Eventually(t, func() bool {
		content, err := os.ReadFile(path)
		return err == nil && len(content) > 0 && containsLine(string(content), line)
	}, 20*time.Second, 20*time.Millisecond, "%s in %s", line, path)
}
