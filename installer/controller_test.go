package installer_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"slipway/installer"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
)

// job returns the Job a bootstrap host adds to the manifests.
func job(t *testing.T, req *wire.BootstrapRequest, changes ...func(*installer.Options)) corev1.PodSpec {
	t.Helper()
	s, h := newService(t), newHost(t, nil)
	services(h, t)
	s.files["bootstrap.ign"] = bootstrapIgnition()
	require.NoError(t, newInstaller(s, h, nil, changes...).StartBootstrap(t.Context(), req))
	var out batchv1.Job
	require.NoError(t, yaml.UnmarshalStrict([]byte(h.read(t, "/opt/openshift/manifests/assisted-installer-controller-06-job.yaml")), &out))
	return out.Spec.Template.Spec
}

// fromPayload asks for the controller as a program in an image of the release.
func fromPayload(controlPlane int, program string) *wire.BootstrapRequest {
	req := bootstrap(controlPlane)
	sum := sha256.Sum256([]byte(program))
	req.Controller = &wire.ControllerProgram{
		Image: "quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:c11",
		Programs: map[string]wire.AgentProgram{
			"x86_64":  {Path: "/controller/slipway-controller-amd64", SHA256: hex.EncodeToString(sum[:])},
			"arm64":   {Path: "/controller/slipway-controller-arm64", SHA256: strings.Repeat("a", 64)},
			"aarch64": {Path: "/controller/slipway-controller-arm64", SHA256: strings.Repeat("a", 64)},
		},
	}
	req.ControllerImage = req.Controller.Image
	return req
}

func variable(t *testing.T, pod corev1.PodSpec, name string) string {
	t.Helper()
	for _, v := range pod.Containers[0].Env {
		if v.Name == name {
			return v.Value
		}
	}
	require.Fail(t, "no variable "+name)
	return ""
}

// Facts of the pod come from openshift/assisted-installer's Job (deploy/assisted-installer-controller) and
// from OpenShift's requirements for a pod that starts before the cluster's network.
func TestControllerRunsInAnImageOfTheRelease(t *testing.T) {
	t.Parallel()
	pod := job(t, fromPayload(3, "controller"))
	require.Equal(t, "quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:c11", pod.Containers[0].Image)
	require.Equal(t, []string{"/bin/bash", "-c"}, pod.Containers[0].Command[:2])
	require.True(t, pod.HostNetwork)
	require.Equal(t, corev1.DNSDefault, pod.DNSPolicy)
	require.Equal(t, map[string]string{"node-role.kubernetes.io/master": ""}, pod.NodeSelector)
	require.Equal(t, []corev1.Toleration{{Operator: corev1.TolerationOpExists}}, pod.Tolerations)
	require.Equal(t, "/tmp", variable(t, pod, "HOME"))
	sum := sha256.Sum256([]byte("controller"))
	require.Equal(t, fmt.Sprintf("# of slipway-controller, by machine\n%x  x86_64\n%s  aarch64\n", sum, strings.Repeat("a", 64)),
		sortedSums(variable(t, pod, "SHA256SUMS")))
	require.ElementsMatch(t, []string{"/tmp", "/etc/pki", "/etc/kubernetes/apiserver-url.env"}, mounts(pod))
	require.NotNil(t, pod.Volumes[0].EmptyDir)
}

// sortedSums puts the line of x86_64 first.
func sortedSums(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) == 3 && strings.HasSuffix(lines[2], "x86_64") {
		lines[1], lines[2] = lines[2], lines[1]
	}
	return strings.Join(lines, "\n") + "\n"
}

func mounts(pod corev1.PodSpec) []string {
	var paths []string
	for _, m := range pod.Containers[0].VolumeMounts {
		paths = append(paths, m.MountPath)
	}
	return paths
}

func TestControllerOfASingleNodeUsesTheKubeconfigOfTheBootstrapPhase(t *testing.T) {
	t.Parallel()
	pod := job(t, fromPayload(1, "controller"), func(o *installer.Options) { o.CACert = "/etc/assisted/ca.crt" })
	require.ElementsMatch(t, []string{
		"/tmp", "/etc/pki", "/etc/kubernetes/apiserver-url.env", "/etc/kubernetes/bootstrap-secrets", "/etc/assisted/ca.crt",
	}, mounts(pod))
}

func TestBootstrapIsRefusedWithoutAnImageForTheController(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t, nil)
	services(h, t)
	s.files["bootstrap.ign"] = bootstrapIgnition()
	req := bootstrap(3)
	req.ControllerImage, req.Controller = "", &wire.ControllerProgram{}
	require.ErrorContains(t, newInstaller(s, h, nil).StartBootstrap(t.Context(), req), "CONTROLLER_IMAGE")
}

// starter runs the Job's command on this machine as the container of a node would.
type starter struct {
	t    *testing.T
	home string
	env  []string
	// script is the command of the Job, with short pauses.
	script string
}

func newStarter(t *testing.T, url, wanted string) *starter {
	t.Helper()
	for _, tool := range []string{"bash", "sha256sum", "uname"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIP: %s is not installed (deploy/debian-packages)", tool)
		}
	}
	machine, err := exec.CommandContext(t.Context(), "uname", "-m").Output()
	require.NoError(t, err)
	req := fromPayload(3, wanted)
	program := req.Controller.Programs["x86_64"]
	req.Controller.Programs = map[string]wire.AgentProgram{strings.TrimSpace(string(machine)): program}
	pod := job(t, req)
	s := &starter{t: t, home: t.TempDir()}
	s.script = strings.ReplaceAll(pod.Containers[0].Command[2], "sleep ", "sleep 0.0")
	s.env = []string{
		"HOME=" + s.home, "INVENTORY_URL=" + url + "/", "SHA256SUMS=" + variable(t, pod, "SHA256SUMS"), "PATH=" + os.Getenv("PATH"),
	}
	return s
}

func (s *starter) run(env ...string) (string, error) {
	s.t.Helper()
	ctx := await.Context(s.t)
	cmd := exec.CommandContext(ctx, "bash", "-c", s.script) //nolint:gosec // our own script
	cmd.Env = append(s.env, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// programs serves the controller as the service does, after some failures.
func programs(t *testing.T, content string, failures int32, start func(http.Handler) *httptest.Server) *httptest.Server {
	t.Helper()
	var asked atomic.Int32
	server := start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) <= failures {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if strings.HasSuffix(r.URL.Path, ".sha256") {
			fmt.Fprintf(w, "%x\n", sha256.Sum256([]byte(content)))
			return
		}
		_, _ = w.Write([]byte(content))
	}))
	t.Cleanup(server.Close)
	return server
}

const theController = "#!/bin/sh\necho controller runs\n"

func TestJobStartsTheControllerOfTheService(t *testing.T) {
	t.Parallel()
	s := newStarter(t, programs(t, theController, 2, httptest.NewServer).URL, theController)
	out, err := s.run()
	require.NoError(t, err, out)
	require.Contains(t, out, "controller runs")
	require.Equal(t, 2, strings.Count(out, "next try"), out)
}

func TestJobStartsTheControllerWithoutCurl(t *testing.T) {
	t.Parallel()
	s := newStarter(t, programs(t, theController, 0, httptest.NewServer).URL, theController)
	python, err := exec.CommandContext(t.Context(), "python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Skip("SKIP: python3 is not installed (deploy/debian-packages)")
	}
	bin := t.TempDir()
	require.NoError(t, os.Symlink(strings.TrimSpace(string(python)), filepath.Join(bin, "python3")))
	for _, tool := range []string{"bash", "sh", "cat", "chmod", "cut", "grep", "rm", "sha256sum", "sleep", "tr", "uname"} {
		path, err := exec.LookPath(tool)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(bin, tool)))
	}
	out, err := s.run("PATH=" + bin)
	require.NoError(t, err, out)
	require.Contains(t, out, "controller runs")
}

func TestJobRefusesAnotherProgram(t *testing.T) {
	t.Parallel()
	var tries atomic.Int32
	s := newStarter(t, "", theController)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content := "#!/bin/sh\necho intruder\n"
		if tries.Add(1) > 1 {
			content = theController
		}
		_, _ = w.Write([]byte(content))
	}))
	t.Cleanup(server.Close)
	out, err := s.run("INVENTORY_URL=" + server.URL)
	require.NoError(t, err, out)
	require.NotContains(t, out, "intruder")
	require.Contains(t, out, "controller runs")
}

func TestJobTakesTheProgramOfAnUpgradedServiceWhoseCertificateIsVerified(t *testing.T) {
	t.Parallel()
	server := programs(t, theController, 0, httptest.NewTLSServer)
	s := newStarter(t, server.URL, "the program before the upgrade")
	ca := filepath.Join(t.TempDir(), "ca.crt")
	require.NoError(t, os.WriteFile(ca, pemOf(server.Certificate().Raw), 0o600))
	out, err := s.run("CA_CERT_PATH=" + ca)
	require.NoError(t, err, out)
	require.Contains(t, out, "controller runs")
}

func TestJobUsesTheProxyOfTheCluster(t *testing.T) {
	t.Parallel()
	proxy := programs(t, theController, 0, httptest.NewServer)
	s := newStarter(t, "http://service.invalid", theController)
	bin := t.TempDir()
	answers := "#!/bin/sh\ncase \"$*\" in *http:*|*status.httpProxy*) echo " + proxy.URL + ";; *noProxy*) echo .cluster.local;; esac\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "oc"), []byte(answers), 0o700))
	out, err := s.run("PATH=" + bin + ":" + os.Getenv("PATH"))
	require.NoError(t, err, out)
	require.Contains(t, out, "controller runs")
}

func pemOf(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
