package e2e_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/s2"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
	"slipway/test/built"
)

// TestNoSecretLeavesItsPlace gives an installation secrets of every kind, ends the service in the middle of it with kill -9, and then
// looks for them in all that the service keeps, logs, measures and answers.
func TestNoSecretLeavesItsPlace(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "SLIPWAY_LOG_LEVEL=debug")
	var s secrets
	other := base64.StdEncoding.EncodeToString([]byte("bob:" + s.plant("password of another registry in the pull secret")))
	f.pullSecret = strings.Replace(f.pullSecret, `{"auths":{`, `{"auths":{"registry.example.com":{"auth":"`+other+`"},`, 1)
	s.add("pull secret", strings.TrimRight(f.auth, "="))
	install := shape{masters: 3, workers: 2, speed: 80}
	f.define(t, install)
	env := f.plantSettings(t, &s)
	f.await(t, "all hosts to register", func(c *wire.Cluster) bool { return len(c.Hosts) == 5 })
	f.plantHosts(t, &s, env)
	people := f.people(t, &s)
	f.discover(t, install)
	f.install(t)
	f.await(t, "writing", phases[1].at)

	cluster, err := f.client.Cluster(t.Context(), f.id)
	require.NoError(t, err)
	agents := f.agents(t, &s)
	f.sendLogs(t, &s, agents["a host"])
	answers := f.answers(t, cluster, env, people)
	for role, body := range f.answers(t, cluster, env, agents) {
		answers[role] = body
	}
	f.rotateAndKill(t)
	built.WaitReady(t, f.url)
	f.rotated(t)
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.nothingLost(t, true)
	f.generated(t, &s)
	for role, body := range f.answers(t, cluster, env, people) {
		answers[role+", after the installation"] = body
	}

	places := map[string][]byte{}
	for role, body := range answers {
		places["answers to "+role] = body
	}
	places["metrics"] = f.get(t, built.Admin(t, f.dataDir).Secret(), f.url+"/metrics")
	for name, schemas := range map[string][]string{"our tables": ofOurs, "Temporal's tables": ofTemporal} {
		sql, err := os.ReadFile(f.dump(t, schemas))
		require.NoError(t, err)
		require.NotEmpty(t, sql)
		places[name] = sql
	}
	places["texts of lists, unpacked"] = f.unpackedTexts(t)
	places["log of the service"] = read(t, f.service.log)
	places["arguments and environment of the service"] = f.processes(t)
	files := f.kept(t)
	for name, content := range files {
		places[name] = content
	}
	// What is looked for is found where it belongs.
	require.Contains(t, s.in(read(t, f.ignition)), "pull secret", "the search finds nothing")
	require.Contains(t, s.in(read(t, filepath.Join(f.dataDir, "keys"))), "key that seals", "the search finds nothing")
	// An administrator reads what owners of clusters set, as clients of the v2 API compare it with what they want.
	owners := []string{
		"password of the cluster's HTTP proxy", "password of the cluster's HTTPS proxy", "override of a host's Ignition",
		"argument of the image writer",
	}
	shown := map[string][]string{
		"answers to an administrator": owners, "answers to an administrator, after the installation": owners,
	}
	var found []string
	size := 0
	for name, content := range places {
		size += len(content)
		for _, kind := range s.in(content) {
			if !slices.Contains(shown[name], kind) {
				found = append(found, name+": "+kind)
			}
		}
	}
	slices.Sort(found)
	t.Logf("sweep: %d kinds of secret in clear, UTF-16, base64 and hex; %d places (%d files), %d MB; found %d",
		len(s.kinds()), len(places), len(files), size>>20, len(found))
	t.Logf("kinds: %s", strings.Join(s.kinds(), ", "))
	require.GreaterOrEqual(t, len(s.kinds()), 20)
	require.Empty(t, found, "secrets out of their place")
}

// unpackedTexts returns what is kept of hosts and clusters for lists, without its compression.
func (f *fleet) unpackedTexts(t *testing.T) (all []byte) {
	t.Helper()
	database, err := pgx.Connect(t.Context(), f.databaseURL())
	require.NoError(t, err)
	defer func() { _ = database.Close(context.WithoutCancel(t.Context())) }()
	for _, kept := range []struct {
		column, table, name string
		header              bool // JSON in clear precedes
	}{
		{"shown", "hosts", `"requested_hostname":`, false},
		{"shown_inventory", "hosts", `"inventory":`, false},
		{"shown", "clusters", `"base_dns_domain":`, true},
	} {
		rows, err := database.Query(t.Context(), `select `+kept.column+` from slipway.`+kept.table+` where octet_length(`+kept.column+`) > 0`)
		require.NoError(t, err)
		list, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
		require.NoError(t, err)
		require.NotEmpty(t, list, "%s of %s", kept.column, kept.table)
		for _, packed := range list {
			if kept.header {
				length, size := binary.Uvarint(packed)
				header := size + int(length)
				all, packed = append(all, packed[size:header]...), packed[header:]
			}
			text, err := s2.Decode(nil, packed)
			require.NoError(t, err)
			require.Contains(t, string(text), kept.name)
			all = append(all, text...)
		}
	}
	return all
}

// rotateAndKill gives the service a new key, and ends it with kill -9 while it encrypts again.
func (f *fleet) rotateAndKill(t *testing.T) {
	t.Helper()
	before, err := f.store.SealedValues(t.Context())
	require.NoError(t, err)
	require.Len(t, before, 1, "one key encrypts everything")
	said := f.typed(t, "keys", "rotate", "--data-dir", f.dataDir, "--wait", "0s")
	require.Regexp(t, `^key [0-9a-f]{8} encrypts from now on`, said)
	for watch := await.Begin(t); len(before) == 1 && !watch.Over(); {
		time.Sleep(time.Millisecond)
		before, err = f.store.SealedValues(t.Context())
		require.NoError(t, err)
	}
	require.Len(t, before, 2, "the service does not encrypt again")
	f.service.signal(syscall.SIGKILL)
}

// rotated waits until everything is encrypted with the new key. The old one is not removed: Temporal's histories need it.
func (f *fleet) rotated(t *testing.T) {
	t.Helper()
	said := f.typed(t, "keys", "rotate", "--data-dir", f.dataDir, "--wait", "2m")
	if !strings.HasPrefix(said, "the service is still busy with key ") {
		require.Regexp(t, `^key [0-9a-f]{8} encrypts from now on`, said, "the first was done before")
	}
	listed := f.typed(t, "keys", "list", "--data-dir", f.dataDir)
	t.Logf("keys after a rotation in the middle of the installation:\n%s", listed)
	lines := strings.Split(strings.TrimSpace(listed), "\n")
	require.Contains(t, lines[1], " encrypts ")
	for _, line := range lines[2:] {
		require.Regexp(t, `^([0-9a-f]{8}) +decrypts +\S+ +0 +[1-9]`, line, "no values, and the workflow of the cluster")
		said := f.refused(t, "keys", "remove", strings.Fields(line)[0], "--data-dir", f.dataDir)
		require.Contains(t, said, "workflows in Temporal that started before it was replaced")
	}
}

// plantSettings gives secrets to the cluster and its InfraEnv, and returns the latter's id.
func (f *fleet) plantSettings(t *testing.T, s *secrets) uuid.UUID {
	t.Helper()
	ctx := t.Context()
	text := func(format, kind string) *string {
		filled := fmt.Sprintf(format, s.plant(kind))
		return &filled
	}
	_, err := f.client.UpdateCluster(ctx, f.id, wire.V2ClusterUpdateParams{
		HTTPProxy:  text("http://proxy:%s@192.0.2.9:3128", "password of the cluster's HTTP proxy"),
		HTTPSProxy: text("http://proxy:%s@192.0.2.9:3129", "password of the cluster's HTTPS proxy"),
	})
	require.NoError(t, err)
	// The installer requires a host for each replica.
	password := s.plant("password of a BMC in overrides of the install-config")
	var hosts []string
	for n := range 5 {
		hosts = append(hosts, fmt.Sprintf(
			`{"name":"m%d","role":%q,"bootMACAddress":"52:54:00:00:00:9%[1]d","bmc":{"address":"redfish://192.0.2.%[1]d/1","username":"root","password":%q}}`,
			n, map[bool]string{true: "master", false: "worker"}[n < 3], password))
	}
	bmc := `{"platform":{"baremetal":{"hosts":[` + strings.Join(hosts, ",") + `]}}}`
	require.NoError(t, f.client.UpdateInstallConfig(ctx, f.id, bmc))
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: site, namespace: default}\nstringData: {password: %s}\n"
	manifest := text(secret, "manifest of a user")
	_, err = f.client.CreateManifest(ctx, f.id, wire.CreateManifestParams{
		FileName: "site.yaml", Folder: "manifests", Content: base64.StdEncoding.EncodeToString([]byte(*manifest)),
	})
	require.NoError(t, err)
	envs, err := f.client.ListInfraEnvs(ctx, f.id)
	require.NoError(t, err)
	require.Len(t, envs, 1)
	override := `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/site","contents":{"source":"data:,%s"}}]}}`
	_, err = f.client.UpdateInfraEnv(ctx, envs[0].ID, wire.InfraEnvUpdateParams{
		Proxy: &wire.Proxy{
			HTTPProxy:  *text("http://proxy:%s@192.0.2.9:3128", "password of the hosts' HTTP proxy"),
			HTTPSProxy: *text("http://proxy:%s@192.0.2.9:3129", "password of the hosts' HTTPS proxy"),
		},
		IgnitionConfigOverride: text(override, "override of the discovery Ignition"),
		KernelArguments: &wire.KernelArguments{
			{Operation: wire.Append, Value: *text("site.password=%s", "kernel argument of the discovery image")},
		},
	})
	require.NoError(t, err)
	f.put(t, f.url+"/api/assisted-install/v2/clusters/"+f.id.String()+"/ui-settings", *text("{\"note\":%q}", "settings of a user interface"))
	return envs[0].ID
}

// plantHosts gives secrets to one host.
func (f *fleet) plantHosts(t *testing.T, s *secrets, env uuid.UUID) {
	t.Helper()
	ctx := t.Context()
	c, err := f.client.Cluster(ctx, f.id)
	require.NoError(t, err)
	id := c.Hosts[0].ID
	require.NoError(t, f.client.SetHostIgnition(ctx, env, id, fmt.Sprintf(
		`{"ignition":{"version":"3.2.0"},"passwd":{"users":[{"name":"core","passwordHash":"%s"}]}}`, s.plant("override of a host's Ignition"))))
	_, err = f.client.SetInstallerArgs(ctx, env, id, []string{"--append-karg", "site.password=" + s.plant("argument of the image writer")})
	require.NoError(t, err)
	token := s.plant("token of an Ignition endpoint")
	_, err = f.client.UpdateHost(ctx, env, id, wire.HostUpdateParams{
		IgnitionEndpointToken: &token,
		IgnitionEndpointHTTPHeaders: &[]wire.IgnitionEndpointHTTPHeadersParams{
			{Key: "X-Site", Value: s.plant("header of an Ignition endpoint")},
		},
		FencingCredentials: &wire.FencingCredentialsParams{
			Address: "redfish+https://192.0.2.3/redfish/v1/Systems/1", Username: "fence", Password: s.plant("password for fencing"),
		},
	})
	require.NoError(t, err)
}

// people have tokens of each role.
func (f *fleet) people(t *testing.T, s *secrets) map[string]model.Secret {
	t.Helper()
	all := map[string]model.Secret{}
	for name, params := range map[string]wire.UserTokenCreateParams{
		"an administrator":               {UserName: "ann", Role: "admin"},
		"a viewer":                       {UserName: "vic", Role: "viewer"},
		"a user of another organization": {UserName: "zoe", Role: "user", OrgID: "other"},
	} {
		made, err := f.client.CreateToken(t.Context(), params)
		require.NoError(t, err)
		s.add("token of "+name, signature(made.Token))
		all[name] = model.Secret(made.Token)
	}
	s.add("token of the first administrator", signature(built.Admin(t, f.dataDir).Secret().Reveal()))
	return all
}

// agents returns the token of a host; the token of the image is looked for too.
func (f *fleet) agents(t *testing.T, s *secrets) map[string]model.Secret {
	t.Helper()
	var token string
	require.NoError(t, filepath.WalkDir(f.machineDir("master-1"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "token" && !d.IsDir() {
			token = strings.TrimSpace(string(read(t, path)))
		}
		return nil
	}))
	require.NotEmpty(t, token, "no token in the folder of a machine")
	s.add("token of a host", signature(token))
	image := regexp.MustCompile(`eyJ[\w-]+\.[\w-]+\.[\w-]{32,}`).FindString(string(read(t, f.ignition)))
	if image == "" { // Ignition has it in a file
		for _, source := range regexp.MustCompile(`base64,([\w+/=]+)`).FindAllStringSubmatch(string(read(t, f.ignition)), -1) {
			content, _ := base64.StdEncoding.DecodeString(source[1])
			image += regexp.MustCompile(`eyJ[\w-]+\.[\w-]+\.[\w-]{32,}`).FindString(string(content))
		}
	}
	require.NotEmpty(t, image, "no token in the discovery Ignition")
	s.add("token of the image", signature(image))
	return map[string]model.Secret{"a host": model.Secret(token)}
}

// sendLogs sends a host's archive of logs; a later archive of the host replaces it, and the traces of both are looked through too.
func (f *fleet) sendLogs(t *testing.T, s *secrets, token model.Secret) {
	t.Helper()
	host := f.host(t, "master-1")
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	file, err := w.CreateFormFile("upfile", "logs.tar.gz")
	require.NoError(t, err)
	_, err = io.WriteString(file, "\x1f\x8b\x08"+strings.Repeat(s.plant("log of a host")+"\n", 1000)) // the head of a gzip file
	require.NoError(t, err)
	require.NoError(t, w.Close())
	address := fmt.Sprintf("%s/api/assisted-install/v2/clusters/%s/logs?logs_type=host&infra_env_id=%s&host_id=%s",
		f.url, f.id, host.InfraEnvID, host.ID)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, &form)
	require.NoError(t, err)
	request.Header.Set("Content-Type", w.FormDataContentType())
	request.Header.Set("X-Secret-Key", token.Reveal())
	answer, err := built.Carrier(t, f.dataDir).Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusNoContent, answer.StatusCode, "%s", body)
	var logs bytes.Buffer
	require.NoError(t, f.client.ClusterLogs(t.Context(), f.id, wire.LogsTypeHost, host.ID, &logs))
	require.NotEmpty(t, s.in(logs.Bytes()), "an administrator reads them")
}

// generated collects the secrets that the service made.
func (f *fleet) generated(t *testing.T, s *secrets) {
	t.Helper()
	password, err := f.client.ClusterCredentialsFile(t.Context(), f.id, "kubeadmin-password")
	require.NoError(t, err)
	s.add("kubeadmin's password", strings.TrimSpace(string(password)))
	kubeconfig, err := f.client.ClusterCredentialsFile(t.Context(), f.id, "kubeconfig")
	require.NoError(t, err)
	_, key, found := strings.Cut(string(kubeconfig), "client-key-data:")
	require.True(t, found)
	encoded := strings.Fields(key)[0]
	key64, err := base64.StdEncoding.DecodeString(strings.Trim(encoded, `"`))
	require.NoError(t, err)
	s.addKey(t, "key of the kubeconfig", key64)
	for line := range strings.Lines(string(read(t, filepath.Join(f.dataDir, "keys")))) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "kinds:")
		if raw, err := base64.StdEncoding.DecodeString(line); err == nil && len(raw) == 32 {
			s.add("key that seals", string(raw))
		}
	}
	require.NoError(t, filepath.WalkDir(f.dataDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(path, filepath.Join(f.dataDir, "postgres")) {
			return nil //nolint:nilerr // what goes meanwhile is no key
		}
		if content, err := os.ReadFile(path); err == nil && strings.Contains(string(content), "PRIVATE KEY-----") {
			relative, _ := filepath.Rel(f.dataDir, path)
			s.addKey(t, "private key "+relative, content)
		}
		return nil
	}))
}

// answers reads every address with each token, whatever the answer: refusals are looked through as well.
func (f *fleet) answers(t *testing.T, c *wire.Cluster, env uuid.UUID, tokens map[string]model.Secret) map[string][]byte {
	t.Helper()
	id, all := c.ID.String(), map[string][]byte{}
	host := env.String() + "/hosts/" + c.Hosts[0].ID.String()
	paths := []string{
		"v2/clusters", "v2/clusters?with_hosts=true", "v2/clusters/" + id, "v2/clusters/" + id + "?get_unregistered_clusters=true",
		"v2/clusters/" + id + "/hosts", "v2/infra-envs/" + env.String() + "/hosts", "v2/infra-envs/" + host,
		"v2/events?cluster_id=" + id, "v2/events?infra_env_id=" + env.String(), "v2/clusters/" + id + "/manifests",
		"v2/clusters/" + id + "/supported-platforms", "v2/clusters/" + id + "/preflight-requirements", "v2/clusters/" + id + "/default-config",
		"v2/component-versions", "v2/openshift-versions",
		"slipway/v1/clusters/" + id + "/workflow", "slipway/v1/tokens",
	}
	for role, token := range tokens {
		for _, path := range paths {
			all[role] = append(all[role], f.get(t, token, f.url+"/api/assisted-install/"+path)...)
			all[role] = append(all[role], f.get(t, token, f.url+"/api/"+path)...)
		}
		require.NotEmpty(t, all[role])
	}
	return all
}

func (f *fleet) get(t *testing.T, token model.Secret, url string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	text := strings.TrimPrefix(token.Reveal(), "Bearer ")
	request.Header.Set("Authorization", "Bearer "+text)
	request.Header.Set("X-Secret-Key", text)
	answer, err := built.Carrier(t, f.dataDir).Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return body
}

// put sends a text as the administrator.
func (f *fleet) put(t *testing.T, url, text string) {
	t.Helper()
	body, err := json.Marshal(text)
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url, bytes.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+built.Admin(t, f.dataDir).Secret().Reveal())
	request.Header.Set("Content-Type", "application/json")
	answer, err := built.Carrier(t, f.dataDir).Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Less(t, answer.StatusCode, 300)
}

// processes returns the arguments and environments of the service and of what it started.
func (f *fleet) processes(t *testing.T) []byte {
	t.Helper()
	var all []byte
	f.service.mu.Lock()
	pids := []string{fmt.Sprint(f.service.process.Pid)}
	f.service.mu.Unlock()
	if children, err := exec.CommandContext(t.Context(), "pgrep", "-P", pids[0]).Output(); err == nil {
		pids = append(pids, strings.Fields(string(children))...)
	}
	for _, pid := range pids {
		for _, file := range []string{"cmdline", "environ"} {
			content, _ := os.ReadFile(filepath.Join("/proc", pid, file))
			all = append(all, content...)
		}
	}
	require.NotEmpty(t, all)
	return all
}

// kept reads the files of the data folder, the database's included, except files whose content is the secret.
func (f *fleet) kept(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	require.NoError(t, filepath.WalkDir(f.dataDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // the database removes files meanwhile
		}
		relative, err := filepath.Rel(f.dataDir, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		own := slices.Contains([]string{"keys", "admin.config", "temporal/temporal.toml"}, relative) ||
			strings.Contains(string(content), "PRIVATE KEY-----")
		if own && !strings.HasPrefix(relative, "postgres") {
			info, err := d.Info()
			if err != nil {
				return err
			}
			if info.Mode().Perm()&0o077 != 0 {
				all["file that others may read, "+relative] = content
			}
			return nil
		}
		all["file "+relative] = content
		return nil
	}))
	return all
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return content
}
