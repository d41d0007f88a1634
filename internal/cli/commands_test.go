package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cli"
	"slipway/internal/wire"
)

func TestCommandsPrintWhatPeopleAskFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"lists clusters", []string{"cluster", "list"}, []string{"green", clusterID.String(), "4.20.5", "installing", "42%", "3h"}},
		{
			"shows a cluster by name with what is missing",
			[]string{"cluster", "show", "green"},
			[]string{
				"green.example.com", "worker-0", "api-vips-defined", "require an API address", "has-min-memory", "console", "on its way",
			},
		},
		{"shows a cluster by id", []string{"cluster", "show", clusterID.String()}, []string{"Control plane:", "3"}},
		{
			"lists hosts, masters first, one line each",
			[]string{"host", "list"},
			[]string{
				"master-0  master *", "worker-0  worker", "Waiting for bootkube", "54%", "1m30s", "write the image: input/output error",
			},
		},
		{
			"shows the hardware of a host",
			[]string{"host", "show", "master-0"},
			[]string{"8 x Quick", "16 GiB", "/dev/sda", "120 GB", "192.0.2.1/24"},
		},
		{"retries a host", []string{"host", "retry", "worker-0", "--cluster", "green"}, []string{"host worker-0 starts again"}},
		{"installs a host", []string{"host", "install", "worker-0"}, []string{"host worker-0 is being installed"}},
		{"resets a host", []string{"host", "reset", "worker-0"}, []string{"host worker-0 is being reset"}},
		{"reclaims a host", []string{"host", "reclaim", "worker-0"}, []string{"host worker-0 goes back to its InfraEnv"}},
		{"pauses", []string{"cluster", "pause", "green"}, []string{"cluster green pauses"}},
		{"resumes", []string{"cluster", "resume", "green"}, []string{"cluster green continues"}},
		{
			"prints the workflow it paused for machines",
			[]string{"cluster", "pause", "green", "-o", "json"},
			[]string{`"phase": "installing"`},
		},
		{
			"retries the failed stage of a host",
			[]string{"host", "retry-step", "worker-0"},
			[]string{"host worker-0 starts its failed stage again"},
		},
		{"approves a host", []string{"host", "approve", "worker-0"}, []string{"host worker-0 is approved: the next machine"}},
		{"evicts a host", []string{"host", "evict", "worker-0"}, []string{"host worker-0 is given up"}},
		{
			"shows what an installation waits for with the commands that help",
			[]string{"cluster", "show", "green"},
			[]string{
				"is paused", "slipway cluster resume green --url http://", "slipway cluster extend green --url http://",
				"Host worker-0 waits for a decision: Writing image to disk: I/O error",
				"slipway host retry-step worker-0 --cluster green --url http://", "slipway host retry worker-0",
				"slipway host evict worker-0",
			},
		},
		{
			"lists events with the names of hosts",
			[]string{"cluster", "events", "green"},
			[]string{"cluster created", "error", "worker-0", "host failed"},
		},
		{"prints credentials", []string{"cluster", "credentials", "green"}, []string{"kubeadmin", "secret"}},
		{"prints the kubeconfig", []string{"cluster", "kubeconfig", "green"}, []string{"apiVersion: v1"}},
		{"lists InfraEnvs", []string{"infra-env", "list"}, []string{"green_infra-env", envID.String() + "  green"}},
		{
			"shows an InfraEnv with its hosts",
			[]string{"infra-env", "show", "green_infra-env"},
			[]string{
				"HTTPS proxy:", "http://b:2", "Cluster:", "green", "master-0  master *", "3.0 GiB of inventories and logs, at most 100 GiB\n",
				"5.0 GiB of inventories and logs\n",
			},
		},
		{"deletes", []string{"cluster", "delete", "green"}, []string{"cluster green deleted\nInfraEnv green_infra-env deleted\n"}},
		{"lists the events of a host", []string{"host", "events", "worker-0"}, []string{"error", "worker-0", "host failed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, err := run(t, new(fake).serve(t), c.args...)
			require.NoError(t, err)
			for _, want := range c.want {
				require.Contains(t, out, want)
			}
		})
	}
}

func TestCommandsPrintJSONForMachines(t *testing.T) {
	t.Parallel()
	out, err := run(t, new(fake).serve(t), "host", "show", "worker-0", "--output", "json")
	require.NoError(t, err)
	var host wire.Host
	require.NoError(t, json.Unmarshal([]byte(out), &host))
	require.Equal(t, workerID, host.ID)
}

func TestCommandsFailWithTheirExitCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		code       int
		args       []string
	}{
		{"no such name", "there is no cluster blue", 3, []string{"cluster", "show", "blue"}},
		{"no such id", "no cluster of that id", 3, []string{"cluster", "show", otherID.String()}},
		{"a name that two have", "give the id: " + otherID.String(), 1, []string{"cluster", "show", "twin"}},
		{"a state that does not allow it", "require status ready, found installing", 4, []string{"cluster", "install", "green"}},
		{"a phase that did not time out", "no phase of the installation has timed out", 4, []string{"cluster", "extend", "green"}},
		{"nothing to change", "require a flag", 2, []string{"host", "set", "worker-0"}},
		{"an unknown role", "must be one of", 2, []string{"host", "set", "worker-0", "--role", "king"}},
		{"an unknown status", "require a cluster status", 2, []string{"wait", "cluster", "green", "--for", "happy"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := run(t, new(fake).serve(t), c.args...)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, c.code, cli.ExitCode(err))
		})
	}
	_, err := run(t, "http://127.0.0.1:1", "cluster", "list")
	require.ErrorContains(t, err, "the service at http://127.0.0.1:1 does not answer")
	require.Equal(t, 5, cli.ExitCode(err))
}

func TestShowIsSilentAboutAWorkflowThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	out, err := run(t, (&fake{silent: true}).serve(t), "cluster", "show", "green")
	require.NoError(t, err)
	require.Contains(t, out, "worker-0")
	require.NotContains(t, out, "waits for a decision")
}

func TestShowNamesTheCommandAfterACancelledInstallation(t *testing.T) {
	t.Parallel()
	out, err := run(t, (&fake{statuses: []wire.ClusterStatus{wire.ClusterStatusCancelled}}).serve(t), "cluster", "show", "green")
	require.NoError(t, err)
	require.Contains(t, out, "slipway cluster reset green --url http://")
	out, err = run(t, new(fake).serve(t), "cluster", "show", "green")
	require.NoError(t, err)
	require.NotContains(t, out, "cluster reset", "the installation runs")
}

func TestShowSaysWhoSignedTheRelease(t *testing.T) {
	t.Parallel()
	const image, pullSpec = "quay.io/ocp/release:1", "quay.io/ocp/release@sha256:1"
	for want, release := range map[string]wire.ClusterRelease{
		"good, by OpenPGP key AB":                   {Image: image, PullSpec: pullSpec, Policy: "require", SignedBy: "OpenPGP key AB"},
		"not verified: require a signature":         {Image: image, PullSpec: pullSpec, Policy: "warn", Problem: "require a\nsignature"},
		"not verified: --release-signatures is off": {Image: image, PullSpec: pullSpec, Policy: "off"},
	} {
		out, err := run(t, (&fake{release: release}).serve(t), "cluster", "show", "green")
		require.NoError(t, err)
		require.Contains(t, out, pullSpec)
		require.Contains(t, out, want)
	}
	out, err := run(t, (&fake{release: wire.ClusterRelease{Image: image}}).serve(t), "cluster", "show", "green")
	require.NoError(t, err)
	require.NotContains(t, out, "Signature:", "no installation has begun")
}

func TestCreateDefinesAClusterWithItsDiscoveryEnvironment(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "pull-secret.json")
	require.NoError(t, os.WriteFile(secret, []byte("{\"auths\":{}}\n"), 0o600))
	service := new(fake)
	out, err := run(t, service.serve(t), "cluster", "create", "blue", "--base-domain", "example.com", "--pull-secret", secret,
		"--api-vip", "192.0.2.5", "--ingress-vip", "192.0.2.6")
	require.NoError(t, err)
	require.Contains(t, out, clusterID.String())
	require.Len(t, service.requests, 2)
	require.Contains(t, service.requests[0], `"openshift_version":"4.20.5"`, "the default version")
	require.Contains(t, service.requests[0], `"api_vips":[{"ip":"192.0.2.5"}]`)
	require.Contains(t, service.requests[0], `"pull_secret":"{\"auths\":{}}"`)
	require.Contains(t, service.requests[1], `"name":"blue_infra-env"`)
}

func TestSetChangesAHost(t *testing.T) {
	t.Parallel()
	service := new(fake)
	_, err := run(t, service.serve(t), "host", "set", "worker-0", "--role", "master", "--hostname", "m3", "--disk", "/dev/sdb")
	require.NoError(t, err)
	require.JSONEq(t, `{"host_role":"master","host_name":"m3","disks_selected_config":[{"id":"/dev/sdb","role":"install"}]}`,
		service.requests[0][len("PATCH /v2/infra-envs//hosts/ ")+2*36:])
}

func TestWait(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		statuses []wire.ClusterStatus
		code     int
		want     string
	}{
		{
			"ends when the cluster is installed",
			[]wire.ClusterStatus{"installing", "finalizing", "installed"},
			0,
			"cluster green: installed",
		},
		{"fails when the cluster failed", []wire.ClusterStatus{"installing", "error"}, 1, ""},
		{
			"continues while a reset that was just accepted does not show",
			[]wire.ClusterStatus{"error", "error", "insufficient", "installed"},
			0, "cluster green: installed",
		},
		{"fails when time is over", []wire.ClusterStatus{"installing"}, 6, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			service := &fake{statuses: c.statuses}
			out, err := run(t, service.serve(t), "wait", "cluster", clusterID.String(), "--for", "installed", "--timeout", "4s")
			require.Equal(t, c.code, cli.ExitCode(err))
			require.Contains(t, out, c.want)
		})
	}
}

// Once the status has changed, the object is read when something changed; a cursor that it does not know any more begins the feed anew.
func TestWaitFollowsChanges(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	statuses := []string{"preparing-for-installation", "installing", "installing", "finalizing", "finalizing", "installed"}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path != "/api/slipway/v1/changes" {
			asked = append(asked, statuses[0])
			_, _ = fmt.Fprintf(w, `{"id":%q,"name":"green","status":%q}`, clusterID, statuses[0])
			statuses = statuses[1:]
			return
		}
		after := r.URL.Query().Get("after")
		asked = append(asked, "after "+after+" "+r.Header.Get("Prefer"))
		switch after {
		case "":
			_, _ = w.Write([]byte(`{"cursor":"c1","changes":[]}`))
		case "c1":
			_, _ = w.Write([]byte(`{"cursor":"c2","changes":[{"kind":"cluster","id":"` + clusterID.String() + `"}]}`))
		default:
			w.WriteHeader(http.StatusGone)
		}
	}))
	t.Cleanup(service.Close)
	_, err := run(t, service.URL, "wait", "cluster", clusterID.String(), "--for", "installed")
	require.NoError(t, err)
	require.Equal(t, []string{
		"preparing-for-installation", "installing", "after  wait=30", "installing", "after c1 wait=30", "finalizing", "after c2 wait=30",
		"finalizing", "after  wait=30", "installed",
	}, asked)
}

// A list that is watched is read when something changed, not again and again.
func TestWatchedListsFollowChanges(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	var asked []string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path == "/api/slipway/v1/clusters" {
			asked = append(asked, "list")
			_, _ = w.Write([]byte(`{"clusters":[]}`))
			return
		}
		asked = append(asked, "after "+r.URL.Query().Get("after"))
		if len(asked) == 6 {
			cancel()
		}
		_, _ = w.Write([]byte(`{"cursor":"c1","changes":[]}`))
	}))
	t.Cleanup(service.Close)
	var out bytes.Buffer
	terminal := &cli.Terminal{Out: &out, Err: &out, Now: time.Now}
	_, err := typeUntil(ctx, t, terminal, &out, service.URL, "cluster", "list", "--watch")
	require.NoError(t, err)
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []string{"list", "after ", "list", "after c1", "list", "after c1"}, asked)
}

func TestVersionsShowWhatHostsCanBoot(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/assisted-install/v2/openshift-versions":
			_, _ = w.Write([]byte(`{"4.22.9":{"display_name":"4.22.9","support_level":"production","default":true,"cpu_architectures":["x86_64"]},
				"4.21.3":{"display_name":"4.21.3","support_level":"production","cpu_architectures":["x86_64","arm64"]}}`))
		case "/api/slipway/v1/os-images":
			_, _ = w.Write([]byte(`[{"openshift_version":"4.22","cpu_architecture":"x86_64","version":"9.8"},
				{"openshift_version":"4.22.3","cpu_architecture":"x86_64","version":"9.8"},{"openshift_version":"4.22","cpu_architecture":"s390x","version":"9.8"}]`))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(service.Close)
	out, err := run(t, service.URL, "versions")
	require.NoError(t, err)
	rows := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, rows, 3)
	require.Equal(t, []string{"4.21.3", "production", "x86_64,", "arm64"}, strings.Fields(rows[1]), "no live image of 4.21")
	require.Equal(t, []string{"4.22.9", "production", "x86_64", "s390x,", "x86_64", "default"}, strings.Fields(rows[2]))
}
