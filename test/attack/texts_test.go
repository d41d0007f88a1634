package attack_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/guard"
	"slipway/test/built"
)

// hostile is a text that terminals, pages, templates and logs would act on.
const hostile = "m\x1b]0;owned\x07\x1b[2J\u202e<script>alert(1)</script>{{.Token}}$(id)`id`\r\nlevel=ERROR msg=forged"

// hostWritesOnTerminals sends hostile texts as a host, and has an administrator look at it.
func hostWritesOnTerminals(a *attempt) {
	env := a.infraEnv(a, a.alice, "of-fresh", map[string]any{"cluster_id": a.fresh})
	host, token := a.discoveredIn(a.T, a.imageOf(a, a.alice, env), env, hostile)
	again := registration(env, host)
	again.body, _ = json.Marshal(map[string]any{"host_id": host, "discovery_agent_version": hostile})
	a.step(secretKey(token), again)
	shown := a.control(a.admin, get(address("/infra-envs/%s/hosts/%s", env, host)))
	require.Contains(a, shown.body, "owned", "the texts arrived")
	require.Equal(a, "application/json", strings.Split(shown.header.Get("Content-Type"), ";")[0])
	require.Equal(a, "nosniff", shown.header.Get("X-Content-Type-Options"))

	for _, line := range []string{
		"cluster list", "cluster show " + a.fresh, "cluster events " + a.fresh, "host list --cluster " + a.fresh,
		"host show " + host, "host events " + host, "host list --infra-env " + env, "infra-env show " + env,
		"cluster requirements " + a.fresh,
	} {
		out, err := a.typed(line)
		if err != nil {
			a.Logf("%s: %v: %s", line, err, out)
		}
		for _, bad := range []string{"\x1b", "\x07", "\r", "\u202e", "\nlevel=ERROR msg=forged"} {
			require.NotContains(a, out, bad, "THE ATTACK SUCCEEDED: slipway %s", line)
		}
		a.stopped("clean slipway %s", shorten(line))
	}
	out, err := a.typed("host list --cluster " + a.fresh)
	require.NoError(a, err, out)
	require.Contains(a, out, host[:8], "the host is in what was looked through")
	log := a.as(0, "", `cat "$1"`, filepath.Join(a.dir, "service.log"))
	require.NotContains(a, log, "\x1b", "THE ATTACK SUCCEEDED: the log")
	require.NotContains(a, log, "\nlevel=ERROR msg=forged", "THE ATTACK SUCCEEDED: the log")
	for _, page := range []string{"/", "/docs", "/temporal/login?returnUrl=" + "%22%3E%3Cscript%3Ealert(1)%3C/script%3E"} {
		got := a.ask(a, credential{}, get(page))
		require.NotContains(a, got.body, "<script>alert(1)", "THE ATTACK SUCCEEDED: %s", page)
	}
	a.must(a, a.alice, remove(address("/infra-envs/%s/hosts/%s", env, host)))
}

// typed runs a line of the command line on the service's machine, into a pipe.
func (a *attempt) typed(line string) (string, error) {
	c := exec.Command(built.Binary(a.T), strings.Fields(line)...)
	c.Env = append(c.Environ(), "SLIPWAY_DATA_DIR="+a.dataDir, "XDG_CONFIG_HOME="+a.dir, "HOME="+a.dir)
	out, err := c.CombinedOutput()
	return string(out), err
}

// registryLeadsToTheServicesMachine names images whose registry is on this machine, or leads there, and reads answers in errors. The
// service takes images that users name.
func registryLeadsToTheServicesMachine(a *attempt) {
	const inside = "text-of-an-inner-service"
	var reached atomic.Int64
	inner := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached.Add(1)
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte(inside))
	}))
	a.Cleanup(inner.Close)
	innerAddress := strings.TrimPrefix(inner.URL, "http://")
	everywhere, err := new(net.ListenConfig).Listen(a.Context(), "tcp", ":0")
	require.NoError(a, err)
	outer := &http.Server{Handler: inner.Config.Handler, ReadHeaderTimeout: time.Minute}
	go func() { _ = outer.Serve(everywhere) }()
	a.Cleanup(func() { _ = outer.Close() })
	var asked atomic.Int64
	leads := func(lead func(w http.ResponseWriter, r *http.Request)) string {
		registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			lead(w, r)
		}))
		a.Cleanup(registry.Close)
		return strings.TrimPrefix(registry.URL, "http://")
	}
	byRedirect := leads(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v2/" {
			http.Redirect(w, r, "https://"+innerAddress+r.URL.Path, http.StatusTemporaryRedirect)
		}
	})
	byRealm := leads(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+inner.URL+`/token",service="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	})

	data, listen := filepath.Join(a.dir, "open"), built.FreeAddress(a.T)
	second := &target{dir: a.dir, dataDir: data, url: "https://" + listen, pullSecret: a.pullSecret}
	second.spawn(a.T, "open", nil, built.Binary(a.T), "up", "--data-dir", data, "--listen", listen, "--any-release-image",
		"--temporal-port", strconv.Itoa(built.FreePorts(a.T, 4)), "--insecure-registry", byRedirect+","+byRealm)
	built.WaitReady(a.T, second.url)
	second.http = built.Carrier(a.T, data)
	second.admin = bearer(built.Admin(a.T, data).Token)
	second.alice = bearer(second.token(a, "mallory", "user", "globex"))
	second.pool = second.infraEnv(a, second.alice, "mine", map[string]any{"openshift_version": "4.20.33"})

	name := func(cluster, image string) request {
		auths := fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, strings.Split(image, "/")[0], inBase64Of("mallory:password"))
		return post(v2+"/clusters", map[string]any{
			"name": cluster, "openshift_version": release, "ocp_release_image": image, "pull_secret": auths,
			"base_dns_domain": "example.com", "control_plane_count": 1,
		})
	}
	const digest = "@sha256:" + "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	images := []string{
		byRedirect + "/a/b" + digest, byRealm + "/a/b" + digest, innerAddress + "/a/b" + digest,
		"169.254.169.254/latest/meta-data" + digest, listen + "/a/b" + digest,
	}
	own, err := guard.OwnAddresses()
	require.NoError(a, err)
	for _, ip := range own {
		if ip.Is4() && !ip.IsLoopback() {
			images = append(images, netip.AddrPortFrom(ip, netip.MustParseAddrPort(everywhere.Addr().String()).Port()).String()+"/a/b"+digest)
			break
		}
	}
	var all []*installation
	for n, image := range images {
		one := &installation{name: fmt.Sprint("c", n), address: fmt.Sprintf("192.168.%d.20", 120+n), speed: "0"}
		one.cluster = second.must(a, second.alice, name(one.name, image)).field("id")
		second.boot(a.T, one)
		all = append(all, one)
	}
	// The image is read when the cluster is installed.
	for _, one := range all {
		second.join(a.T, one)
		second.awaitStatus(a.T, one.cluster, "ready")
		a.steps++
		second.must(a, second.alice, post(address("/clusters/%s/actions/install", one.cluster), nil))
	}
	for n, one := range all {
		said := ""
		second.await(a.T, "the refusal of "+images[n], func() (bool, string) {
			log, err := os.ReadFile(filepath.Join(a.dir, "open.log"))
			require.NoError(a, err)
			_, said, _ = strings.Cut(string(log), "read release image "+images[n]+": ")
			said, _, _ = strings.Cut(said, "\n")
			return said != "", fmt.Sprint(len(log))
		})
		const refusals = "require an address beyond this machine|is a private or link-local address"
		require.Regexp(a, refusals, said, "THE ATTACK SUCCEEDED: %s", images[n])
		seen := []string{said}
		for _, path := range []string{
			"/clusters/" + one.cluster, "/events?cluster_id=" + one.cluster, "/infra-envs/" + second.pool + "/hosts/" + one.host,
		} {
			seen = append(seen, second.must(a, second.alice, get(v2+path)).body)
		}
		for _, text := range seen {
			require.NotContains(a, text, inside, "THE ATTACK SUCCEEDED: %s", images[n])
		}
		a.stopped("no answer of image %d", n)
	}
	require.Zero(a, reached.Load(), "THE ATTACK SUCCEEDED: a service of the machine was asked")
	require.Positive(a, asked.Load(), "the registries that settings name were asked")
	a.controls++
	back, err := http.Get(inner.URL)
	require.NoError(a, err)
	_ = back.Body.Close()
	require.EqualValues(a, 1, reached.Load(), "the inner service answers")
	// The service that did not say that users may name images asks none.
	a.refused(a.mallory, name("inner", innerAddress+"/a/b"+digest), 400)
	require.EqualValues(a, 1, reached.Load(), "THE ATTACK SUCCEEDED")
}
