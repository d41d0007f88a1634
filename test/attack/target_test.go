package attack_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/sim/payload"
	"slipway/internal/testing/await"
	"slipway/test/built"
)

const release = "4.20.5"

// Secrets that owners give to their objects.
const (
	registryPassword = "CanaryOfTheRegistry"
	proxyPassword    = "CanaryOfTheProxy"
	discoveryFile    = "CanaryOfTheDiscovery"
	hostPassword     = "CanaryOfTheHost"
	kernelPassword   = "CanaryOfTheKernel"
	manifestPassword = "CanaryOfTheManifest"
)

// target is a service as it starts by default, with the clusters of one tenant, and whom the chains play.
type target struct {
	dir, dataDir, url string
	service           *exec.Cmd
	http              *http.Client
	pullSecret        string

	admin, alice, mallory, viewer credential // alice is a user of acme, mallory one of globex

	// pool is an InfraEnv of acme whose image the attackers have, image its token. Both installed hosts booted it.
	pool, image string
	done, busy  installation // a cluster that is installed, and one whose host bootstraps it
	fresh       string       // a new cluster of acme
	foreignEnv  string       // an InfraEnv of globex, and a cluster
	foreign     string
}

// installation is a cluster of a single machine.
type installation struct {
	name, address, speed string
	cluster, host        string
	token                string // of the host before the installation
	machine              *exec.Cmd
	root                 string // of the machine
}

// newTarget starts the service, installs one cluster and half of another.
func newTarget(t *testing.T) *target {
	t.Helper()
	w := &target{dir: built.Folder(t, "attack"), service: nil}
	w.dataDir = filepath.Join(w.dir, "service")
	t.Cleanup(func() { w.showLogs(t) })
	w.start(t)
	w.people(t)
	w.define(t)
	for _, one := range []*installation{&w.done, &w.busy} {
		w.install(t, one)
	}
	w.await(t, "a host that bootstraps its cluster", func() (bool, string) {
		host := w.must(t, w.alice, get(address("/infra-envs/%s/hosts/%s", w.pool, w.busy.host)))
		return strings.Contains(host.body, `"current_stage":"Waiting for bootkube"`), host.body
	})
	w.awaitStatus(t, w.done.cluster, "installed")
	return w
}

// start runs the service with nothing but its addresses, its folder, and where its releases are.
func (w *target) start(t *testing.T) {
	t.Helper()
	program, demo := built.Binary(t), built.Demo(t)
	registry, err := payload.Serve(t.Context(), payload.Options{
		Versions: []string{release}, Architecture: runtime.GOARCH, InstallerCommand: []string{demo, "installer"},
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = registry.Close() })
	w.pullSecret = fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, registry.Address(), inBase64Of("acme:"+registryPassword))
	offered, err := json.Marshal([]map[string]any{{
		"openshift_version": release, "version": release, "display_name": release, "cpu_architectures": []string{"x86_64", "arm64"},
		"support_level": "production", "default": true, "url": registry.ReleaseImage(release),
	}})
	require.NoError(t, err)
	listen := built.FreeAddress(t)
	w.url = "https://" + listen
	w.service = w.spawn(t, "service", []string{"RELEASE_IMAGES=" + string(offered)}, program,
		"up", "--data-dir", w.dataDir, "--listen", listen, "--temporal-port", strconv.Itoa(built.FreePorts(t, 4)),
		"--insecure-registry", registry.Address(), "--installer-user", "0", "--installer-paths", demo)
	built.WaitReady(t, w.url)
	w.http = built.Carrier(t, w.dataDir)
	w.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	w.admin = bearer(built.Admin(t, w.dataDir).Token)
}

// spawn starts a program that ends with the test.
func (w *target) spawn(t *testing.T, name string, env []string, program string, args ...string) *exec.Cmd {
	t.Helper()
	log, err := os.Create(filepath.Join(w.dir, name+".log"))
	require.NoError(t, err)
	c := exec.Command(program, args...)
	c.Env = append(c.Environ(), env...)
	c.Stdout, c.Stderr = log, log
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
		_ = log.Close()
	})
	return c
}

func (w *target) showLogs(t *testing.T) {
	if !t.Failed() {
		return
	}
	logs, _ := filepath.Glob(filepath.Join(w.dir, "*.log"))
	for _, path := range logs {
		text, _ := os.ReadFile(path)
		t.Logf("== %s\n%s", filepath.Base(path), text[max(0, len(text)-1500):])
	}
}

// people makes a token for each kind of user.
func (w *target) people(t *testing.T) {
	t.Helper()
	w.alice = bearer(w.token(t, "alice", "user", "acme"))
	w.mallory = bearer(w.token(t, "mallory", "user", "globex"))
	w.viewer = bearer(w.token(t, "victor", "viewer", ""))
}

// token makes a token of a user.
func (w *target) token(t require.TestingT, name, role, org string) string {
	fields := map[string]any{"user_name": name, "role": role}
	if org != "" {
		fields["org_id"] = org
	}
	return w.must(t, w.admin, post(own+"/tokens", fields)).field("token")
}

// define makes what the tenants have, with secrets in it, and takes the token out of the image of the pool.
func (w *target) define(t *testing.T) {
	t.Helper()
	w.pool = w.infraEnv(t, w.alice, "pool", map[string]any{
		"ignition_config_override": `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/site","contents":{"source":"data:,` +
			discoveryFile + `"}}]}}`,
		"kernel_arguments": []map[string]any{{"operation": "append", "value": "rd.site=" + kernelPassword}},
	})
	w.image = w.imageOf(t, w.alice, w.pool)
	w.done = installation{name: "done", address: "192.168.111.20", speed: "0", cluster: w.cluster(t, w.alice, "done")}
	w.busy = installation{name: "busy", address: "192.168.112.20", speed: "16", cluster: w.cluster(t, w.alice, "busy")}
	w.fresh = w.cluster(t, w.alice, "fresh")
	w.must(t, w.alice, patch(address("/clusters/%s", w.fresh), map[string]any{
		"http_proxy": "http://ann:" + proxyPassword + "@192.0.2.9:3128",
	}))
	w.must(t, w.alice, post(address("/clusters/%s/manifests", w.fresh), map[string]any{
		"folder": "manifests", "file_name": "site.yaml", "content": inBase64Of(
			"apiVersion: v1\nkind: Secret\nmetadata: {name: site, namespace: default}\nstringData: {password: " + manifestPassword + "}\n"),
	}))
	w.foreignEnv, w.foreign = w.infraEnv(t, w.mallory, "theirs", nil), w.cluster(t, w.mallory, "theirs")
}

// cluster makes a cluster of one node.
func (w *target) cluster(t require.TestingT, c credential, name string) string {
	return w.must(t, c, post(v2+"/clusters", map[string]any{
		"name": name, "openshift_version": release, "pull_secret": w.pullSecret, "base_dns_domain": "example.com", "control_plane_count": 1,
	})).field("id")
}

func (w *target) infraEnv(t require.TestingT, c credential, name string, more map[string]any) string {
	fields := map[string]any{"name": name, "pull_secret": w.pullSecret}
	for key, value := range more {
		fields[key] = value
	}
	return w.must(t, c, post(v2+"/infra-envs", fields)).field("id")
}

// imageOf takes the token out of the image of an InfraEnv, as whoever finds the image does.
func (w *target) imageOf(t require.TestingT, c credential, infraEnv string) string {
	config := w.must(t, c, get(address("/infra-envs/%s/downloads/files?file_name=discovery.ign", infraEnv)))
	tokens := tokensIn(config.body)
	require.Len(t, tokens, 1, "tokens in an image")
	return tokens[0]
}

// register registers a host as the agent in an image does; the host's token is empty where it gets none.
func (w *target) register(t require.TestingT, image, infraEnv string) (host, token string) {
	host = uuid.NewString()
	got := w.must(t, secretKey(image), registration(infraEnv, host))
	return host, got.header.Get("Slipway-Token")
}

func registration(infraEnv, host string) request {
	return post(address("/infra-envs/%s/hosts", infraEnv), map[string]any{"host_id": host}).with("Slipway-Steps", "fine")
}

// install boots a machine with the image of the pool, gives it to a cluster and installs that.
func (w *target) install(t *testing.T, one *installation) {
	t.Helper()
	demo, site := built.Demo(t), filepath.Join(w.dir, one.name, "site")
	w.boot(t, one)
	w.spawn(t, one.name+"-cluster", nil, demo, "cluster", "--root", filepath.Join(w.dir, one.name, "cluster"), "--site", site,
		"--speed", one.speed, "--name", one.name, "--domain", "example.com", "--control-plane", "1", "--version", release)
	w.spawn(t, one.name+"-controller", nil, demo, "controller", "--root", filepath.Join(w.dir, one.name, "controller"), "--site", site,
		"--speed", one.speed, "--ignition", one.ignition(w), "--cluster-id", one.cluster)
	w.join(t, one)
	w.must(t, w.alice, patch(address("/infra-envs/%s/hosts/%s/ignition", w.pool, one.host), map[string]any{
		"config": `{"ignition":{"version":"3.2.0"},"passwd":{"users":[{"name":"core","passwordHash":"` + hostPassword + `"}]}}`,
	}))
	w.awaitStatus(t, one.cluster, "ready")
	one.token = w.tokenOf(t, *one)
	w.must(t, w.alice, post(address("/clusters/%s/actions/install", one.cluster), nil))
}

func (i *installation) ignition(w *target) string {
	return filepath.Join(w.dir, i.name, "discovery.ign")
}

// boot starts the machine of an installation with the image of the pool.
func (w *target) boot(t *testing.T, one *installation) {
	t.Helper()
	site := filepath.Join(w.dir, one.name, "site")
	one.root = filepath.Join(w.dir, one.name, "machine")
	require.NoError(t, os.MkdirAll(site, 0o755))
	config := w.must(t, w.alice, get(address("/infra-envs/%s/downloads/files?file_name=discovery.ign", w.pool)))
	require.NoError(t, os.WriteFile(one.ignition(w), []byte(config.body), 0o600))
	one.machine = w.spawn(t, one.name+"-machine", nil, built.Demo(t), "machine", "--root", one.root, "--site", site, "--speed", one.speed,
		"--ignition", one.ignition(w), "--name", "m-"+one.name, "--shape", "single-node", "--address", one.address+"/24")
}

// join gives the machine to its cluster.
func (w *target) join(t *testing.T, one *installation) {
	t.Helper()
	w.await(t, "the host of "+one.name, func() (bool, string) {
		one.host = w.hostNamed(t, "m-"+one.name)
		return one.host != "", one.host
	})
	w.must(t, w.alice, bind(w.pool, one.host, one.cluster))
}

// hostNamed finds a host of the pool that can be given to a cluster; empty: there is none yet.
func (w *target) hostNamed(t *testing.T, name string) string {
	t.Helper()
	var hosts []struct {
		ID     string `json:"id"`
		Name   string `json:"requested_hostname"`
		Status string `json:"status"`
	}
	require.NoError(t, json.Unmarshal([]byte(w.must(t, w.alice, get(address("/infra-envs/%s/hosts", w.pool))).body), &hosts))
	for _, h := range hosts {
		if h.Name == name && h.Status == "known-unbound" {
			return h.ID
		}
	}
	return ""
}

func (w *target) await(t *testing.T, what string, holds func() (bool, string)) {
	t.Helper()
	state := ""
	for watch := await.Begin(t); !watch.Over(); time.Sleep(100 * time.Millisecond) {
		holding, now := holds()
		if holding {
			return
		}
		watch.Progress(now)
		state = now
	}
	require.Fail(t, "waited too long for "+what, state)
}

func (w *target) awaitStatus(t *testing.T, cluster, status string) {
	t.Helper()
	w.await(t, "status "+status, func() (bool, string) {
		found := w.must(t, w.alice, get(address("/clusters/%s", cluster)))
		return found.field("status") == status, found.field("status") + found.field("status_info") + found.field("progress")
	})
}

// tokenOf reads the token that the machine of an installation keeps.
func (w *target) tokenOf(t require.TestingT, one installation) string {
	token := ""
	require.NoError(t, filepath.WalkDir(one.root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "token" && !d.IsDir() {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			token = strings.TrimSpace(string(text))
		}
		return nil
	}))
	require.NotEmpty(t, token, "no token in the folder of a machine")
	return token
}
