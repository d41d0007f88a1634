package helm_test

import (
	"bufio"
	"bytes"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podsecurity "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"slipway/test/built"
)

func bufferedReader(text []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(text)) }

// pod is a template of pods, by its component.
type pod struct {
	component string
	meta      metav1.ObjectMeta
	spec      corev1.PodSpec
}

// container returns the only container of the pod.
func (p pod) container(t *testing.T) corev1.Container {
	t.Helper()
	require.Len(t, p.spec.Containers, 1)
	require.Empty(t, p.spec.InitContainers)
	return p.spec.Containers[0]
}

// pods lists the templates of Deployments and Jobs.
func pods(t *testing.T, m manifests) (all []pod) {
	t.Helper()
	for _, object := range m {
		component := object.GetLabels()["app.kubernetes.io/component"]
		switch object.GetKind() {
		case "Deployment":
			d := read[appsv1.Deployment](t, m, "Deployment", object.GetName())
			require.Equal(t, d.Spec.Selector.MatchLabels["app.kubernetes.io/component"], component)
			for name, value := range d.Spec.Selector.MatchLabels {
				require.Equal(t, value, d.Spec.Template.Labels[name], "the selector finds its pods")
			}
			all = append(all, pod{component, d.Spec.Template.ObjectMeta, d.Spec.Template.Spec})
		case "Job":
			j := read[batchv1.Job](t, m, "Job", object.GetName())
			all = append(all, pod{component, j.Spec.Template.ObjectMeta, j.Spec.Template.Spec})
		}
	}
	return all
}

// forEachPod runs a test for each pod of each case.
func forEachPod(t *testing.T, test func(t *testing.T, name string, p pod)) {
	t.Helper()
	t.Parallel()
	for _, name := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, p := range pods(t, of(t, name)) {
				t.Run(p.component, func(t *testing.T) { test(t, name, p) })
			}
		})
	}
}

// Kubernetes' own checks of the level "restricted", and what is wanted beyond it.
func TestPodsAreRestricted(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	require.NoError(t, err)
	restricted := podsecurity.LevelVersion{Level: podsecurity.LevelRestricted, Version: podsecurity.LatestVersion()}
	forEachPod(t, func(t *testing.T, name string, p pod) {
		result := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &p.meta, &p.spec))
		require.True(t, result.Allowed, result.ForbiddenDetail())

		require.Equal(t, p.component == "kube", *p.spec.AutomountServiceAccountToken, "the controllers alone call Kubernetes")
		require.False(t, *p.spec.EnableServiceLinks, "SLIPWAY_API_PORT and others would be taken for settings")
		c := p.container(t)
		require.True(t, *c.SecurityContext.ReadOnlyRootFilesystem)
		require.False(t, c.Resources.Requests.Cpu().IsZero())
		require.False(t, c.Resources.Requests.Memory().IsZero())
		require.False(t, c.Resources.Limits.Memory().IsZero())
		if name == "openshift" {
			require.Nil(t, p.spec.SecurityContext.RunAsUser, "the namespace has a range")
			require.Nil(t, p.spec.SecurityContext.FSGroup)
		} else {
			require.Equal(t, int64(65532), *p.spec.SecurityContext.RunAsUser)
			require.Equal(t, int64(65532), *p.spec.SecurityContext.FSGroup)
		}
	})
}

// What the service refuses to start with: keys that other users can read, and folders that it cannot write.
func TestVolumesSuitTheService(t *testing.T) {
	forEachPod(t, func(t *testing.T, _ string, p pod) {
		volumes := map[string]corev1.Volume{}
		for _, v := range p.spec.Volumes {
			volumes[v.Name] = v
			if v.Secret != nil && v.Name != "ca" {
				require.Equal(t, int32(0o440), *v.Secret.DefaultMode, v.Name)
			}
		}
		written := []string{}
		for _, mount := range p.container(t).VolumeMounts {
			v, found := volumes[mount.Name]
			require.True(t, found, mount.Name)
			if !mount.ReadOnly {
				require.True(t, v.EmptyDir != nil || v.PersistentVolumeClaim != nil, mount.Name)
				written = append(written, mount.MountPath)
			}
		}
		want := map[string][]string{
			"api":     {"/var/lib/slipway", "/tmp"},
			"worker":  {"/var/lib/slipway", "/tmp"},
			"images":  {"/var/lib/slipway", "/tmp", "/var/lib/slipway/images"},
			"kube":    {"/tmp"},
			"migrate": {},
		}
		require.Equal(t, want[p.component], written)
	})
}

func TestProbesOfPods(t *testing.T) {
	t.Parallel()
	// An API stays in its Service while Temporal is away: hosts would count as silent without it.
	paths := map[string][]string{ // at the start, for life, and for traffic
		"api": {"/ready", "/live", "/health"}, "worker": {"/health", "/live", "/ready"}, "images": {"/health", "/live", "/health"},
	}
	schemes := map[string]corev1.URIScheme{
		"smallest": "HTTPS", "trial": "HTTPS", "large": "HTTPS", "openshift": "HTTP", "no-images": "HTTP",
	}
	for _, name := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, p := range pods(t, of(t, name)) {
				c := p.container(t)
				if p.component == "migrate" {
					require.Nil(t, c.LivenessProbe)
					require.Equal(t, corev1.RestartPolicyNever, p.spec.RestartPolicy)
					continue
				}
				if p.component == "kube" {
					require.Equal(t, "/healthz probes", c.LivenessProbe.HTTPGet.Path+" "+c.LivenessProbe.HTTPGet.Port.StrVal)
					require.Equal(t, "/readyz probes", c.ReadinessProbe.HTTPGet.Path+" "+c.ReadinessProbe.HTTPGet.Port.StrVal)
					continue
				}
				scheme := schemes[name]
				if p.component == "worker" {
					scheme = "HTTP"
				}
				for n, probe := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
					require.Equal(t, scheme, probe.HTTPGet.Scheme)
					require.Equal(t, "http", probe.HTTPGet.Port.StrVal)
					require.Equal(t, paths[p.component][n], probe.HTTPGet.Path, p.component)
				}
				require.Equal(t, "http", c.Ports[0].Name)
				require.Greater(t, *p.spec.TerminationGracePeriodSeconds, int64(5+10), "the sleep, and the drain of the process")
			}
		})
	}
}

// variable is a variable in the help of a command.
var variable = regexp.MustCompile(`\$([A-Z][A-Z0-9_]+)`)

// fromElsewhere are variables that libraries read: Temporal's envconfig, Amazon's SDK, and Go.
var fromElsewhere = []string{
	"TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE", "TEMPORAL_API_KEY", "TEMPORAL_TLS", "TEMPORAL_TLS_CLIENT_CERT_PATH",
	"TEMPORAL_TLS_CLIENT_KEY_PATH", "TEMPORAL_TLS_SERVER_CA_CERT_PATH", "TEMPORAL_TLS_SERVER_NAME",
	"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "HTTPS_PROXY", "NO_PROXY",
}

// Commands and variables are the program's own.
func TestTheProgramKnowsCommandsAndVariables(t *testing.T) {
	t.Parallel()
	slipway := built.Binary(t)
	helps := map[string][]string{} // variables by command
	for _, args := range [][]string{{"api"}, {"worker"}, {"images", "serve"}, {"migrate"}, {"kube", "run"}} {
		text, err := exec.Command(slipway, append(slices.Clone(args), "--help")...).Output()
		require.NoError(t, err, args)
		for _, found := range variable.FindAllStringSubmatch(string(text), -1) {
			helps[strings.Join(args, " ")] = append(helps[strings.Join(args, " ")], found[1])
		}
	}
	for _, name := range cases {
		for _, p := range pods(t, of(t, name)) {
			c := p.container(t)
			known, found := helps[strings.Join(c.Args, " ")]
			require.True(t, found, "%s: %q", name, c.Args)
			var seen []string
			for _, env := range c.Env {
				require.NotContains(t, seen, env.Name, "%s %s", name, p.component)
				seen = append(seen, env.Name)
				if p.component == "migrate" && (env.Name == "OIDC_CLIENT_SECRET") {
					continue // extraEnv is for all pods
				}
				if p.component == "images" && env.Name == "OIDC_CLIENT_SECRET" {
					continue
				}
				require.Contains(t, slices.Concat(known, fromElsewhere), env.Name, "%s %s", name, p.component)
			}
		}
	}
}
