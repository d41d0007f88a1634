package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/client/contexts"
)

// listing starts a service that has clusters and nothing else; it asks for a token.
func listing(t *testing.T, token string, clusters ...string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != token {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"reason":"require another token"}`)
			return
		}
		all := []map[string]string{}
		for _, name := range clusters {
			all = append(all, map[string]string{"name": name})
		}
		switch r.URL.Path {
		case "/api/slipway/v1/clusters":
			_ = json.NewEncoder(w).Encode(map[string]any{"clusters": all})
		case "/api/assisted-install/v2/clusters":
			_ = json.NewEncoder(w).Encode(all)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// nowhere returns an environment without contexts and settings.
func nowhere(t *testing.T) []string {
	t.Helper()
	home := t.TempDir()
	return []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "SLIPWAY_URL=", "SLIPWAY_TOKEN=", "SLIPWAY_DATA_DIR="}
}

func TestFlagsOfAServiceStandBeforeTheCommandToo(t *testing.T) {
	t.Parallel()
	url, env := listing(t, "secret", "lab", "prod"), nowhere(t)
	for _, args := range [][]string{
		{"--url", url, "--token=secret", "cluster", "list", "-o", "name"},
		{"-o", "name", "--url=" + url, "--token", "secret", "cluster", "list"},
		{"--log-level", "debug", "cluster", "list", "--url", url, "--token", "secret", "-oname"},
	} {
		out, complaints, code := ran(t, env, args...)
		require.Zero(t, code, "%s: %s", args, complaints)
		require.Equal(t, "cluster/lab\ncluster/prod\n", out)
	}
	_, complaints, code := ran(t, env, "--colour", "red", "cluster", "list")
	require.Equal(t, 2, code)
	require.Contains(t, complaints, "unknown flag --colour")
	_, complaints, code = ran(t, env, "--url", url)
	require.Equal(t, 2, code)
	require.NotEmpty(t, complaints)
}

func TestErrorsAreJSONWhereItIsAskedFor(t *testing.T) {
	t.Parallel()
	url, env := listing(t, "secret"), nowhere(t)
	out, complaints, code := ran(t, env, "cluster", "list", "--url", url, "-o", "json")
	require.Equal(t, 1, code)
	require.Empty(t, out)
	require.JSONEq(t, `{"error":"list the clusters: require another token","exit_code":1}`, complaints)
	_, complaints, code = ran(t, env, "cluster", "liist", "--output=json")
	require.Equal(t, 2, code)
	var failure struct {
		Error string
		Code  int `json:"exit_code"`
	}
	require.NoError(t, json.Unmarshal([]byte(complaints), &failure), complaints)
	require.Contains(t, failure.Error, "liist")
	require.Equal(t, 2, failure.Code)
}

func TestHelpVersionAndManualPage(t *testing.T) {
	t.Parallel()
	env := nowhere(t)
	help, _, code := ran(t, env, "cluster", "create", "--help")
	require.Zero(t, code)
	also, _, code := ran(t, env, "help", "cluster", "create")
	require.Zero(t, code)
	require.Equal(t, help, also)
	all, _, code := ran(t, env, "help")
	require.Zero(t, code)
	require.Contains(t, all, "infra-env")
	out, _, code := ran(t, env, "--version")
	require.Zero(t, code)
	require.Regexp(t, `^slipway \S+`, out)
	page, complaints, code := ran(t, env, "man")
	require.Zero(t, code, complaints)
	for _, part := range []string{".TH SLIPWAY 1", "cluster create", "no-headers"} {
		require.Contains(t, page, part)
	}
}

func TestCompletionKnowsCommandsFlagsAndObjects(t *testing.T) {
	t.Parallel()
	url := listing(t, "secret", "lab", "prod")
	env := append(nowhere(t), "SLIPWAY_URL="+url, "SLIPWAY_TOKEN=secret")
	for line, want := range map[string][]string{
		"slipway clu":                   {"cluster"},
		"slipway cluster cre":           {"create", "credentials"},
		"slipway cluster show ":         {"lab", "prod"},
		"slipway cluster show pr":       {"prod"},
		"slipway host list --cluster l": {"lab"},
		"slipway cluster list --no-h":   {"--no-headers"},
		"slipway completion ":           {"bash", "zsh", "fish"},
	} {
		out, complaints, code := ran(t, append(env, "COMP_LINE="+line), "slipway")
		require.Zero(t, code, complaints)
		require.ElementsMatch(t, want, strings.Fields(out), line)
	}
	away := append(nowhere(t), "SLIPWAY_URL=http://127.0.0.1:1", "COMP_LINE=slipway cluster show ")
	out, complaints, code := ran(t, away, "slipway")
	require.Zero(t, code, complaints)
	require.Empty(t, strings.TrimSpace(out+complaints), "a service that does not answer has no names")
}

func TestShellsReadTheirCompletion(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script, complaints, code := ran(t, nowhere(t), "completion", shell)
		require.Zero(t, code, complaints)
		require.Contains(t, script, "slipway")
		if path, err := exec.LookPath(shell); err == nil {
			c := exec.CommandContext(t.Context(), path, "-n")
			c.Stdin = strings.NewReader(script)
			out, err := c.CombinedOutput()
			require.NoError(t, err, "%s", out)
		}
	}
	_, complaints, code := ran(t, nowhere(t), "completion", "csh")
	require.Equal(t, 2, code)
	require.Contains(t, complaints, "csh")
}

func TestWhatIsGivenByHandWinsOverContexts(t *testing.T) {
	t.Parallel()
	kept, here := listing(t, "kept", "of-the-context"), listing(t, "here", "of-this-machine")
	env, data := nowhere(t), t.TempDir()
	file := contexts.File{}
	file.Put(contexts.Context{Name: "kept", Server: kept, Token: "kept"})
	home, _ := strings.CutPrefix(env[0], "HOME=")
	require.NoError(t, file.Write(filepath.Join(home, "slipway", "config")))
	admin := contexts.File{}
	admin.Put(contexts.Context{Name: "admin", Server: here, Token: "here"})
	require.NoError(t, admin.Write(filepath.Join(data, contexts.AdminFile)))
	names := func(environment []string, args ...string) string {
		out, complaints, _ := ran(t, environment, append(args, "cluster", "list", "-o", "name")...)
		return out + complaints
	}
	require.Equal(t, "cluster/of-the-context\n", names(env))
	withData := append(env, "SLIPWAY_DATA_DIR="+data)
	require.Equal(t, "cluster/of-this-machine\n", names(withData))
	require.Equal(t, "cluster/of-this-machine\n", names(env, "--data-dir", data))
	require.Equal(t, "cluster/of-the-context\n", names(withData, "--url", kept), "the token of that address")
	require.Contains(t, names(withData, "--context", "kept"), "--context and --data-dir (SLIPWAY_CONTEXT, SLIPWAY_DATA_DIR) name two services")
	require.Contains(t, names(env, "--data-dir", t.TempDir()), "require a folder with admin.config, found none that can be read in /")
	out, _, code := ran(t, env, "context", "use", "kept")
	require.Zero(t, code)
	require.Equal(t, "context kept is the current one: "+kept+"\n", out)
}

func TestAddressesAndCertificatesThatAreWrong(t *testing.T) {
	t.Parallel()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	env, host := nowhere(t), strings.TrimPrefix(secure.URL, "https://")
	for address, want := range map[string]struct {
		code int
		text string
	}{
		host:             {5, "is of an unknown authority: name the authority with --ca-file, or keep it with slipway login https://" + host},
		"http://" + host: {2, "speaks HTTPS: require an address that begins with https://"},
		"ftp://" + host:  {2, `require the address of a service, such as https://slipway.example.com:8090, found "ftp://`},
	} {
		_, complaints, code := ran(t, env, "--url", address, "cluster", "list")
		require.Equal(t, want.code, code, "%s: %s", address, complaints)
		require.Contains(t, complaints, want.text)
	}
}
