package frontend_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"
	"github.com/temporalio/ui-server/v2/ui"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/encoding/protojson"

	"slipway/internal/platform/frontend"
	"slipway/internal/testing/httpclient"
)

func uiServer(t *testing.T, o frontend.UIOptions) *httptest.Server {
	t.Helper()
	o.InsecureCookies = true
	handler, err := frontend.UI(o)
	require.NoError(t, err)
	router := chi.NewRouter()
	router.Mount(frontend.UIPath, handler)
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	return server
}

// bundled returns a frontend without certificates.
func bundled(t *testing.T, address string) frontend.Connection {
	t.Helper()
	c, err := frontend.Bundled(address, frontend.Certificates{})
	require.NoError(t, err)
	return c
}

func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	response, err := httpclient.New(t).Get(url)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response, string(body)
}

func TestUIServesPagesBelowItsPath(t *testing.T) {
	t.Parallel()
	server := uiServer(t, frontend.UIOptions{Frontend: bundled(t, "127.0.0.1:1")})
	for _, path := range []string{"/temporal", "/temporal/", "/temporal/namespaces/slipway/workflows"} {
		response, page := get(t, server.URL+path)
		require.Equal(t, http.StatusOK, response.StatusCode, path)
		require.Contains(t, page, `base: "/temporal"`, path)

		policy := response.Header.Values("Content-Security-Policy")
		require.Len(t, policy, 1, path)
		require.Contains(t, policy[0], "default-src 'self'")
		require.Contains(t, policy[0], "frame-ancestors 'self'")
		require.Contains(t, policy[0], "connect-src 'self';")
		require.NotContains(t, strings.SplitN(policy[0], "style-src", 2)[0], "unsafe", "scripts need a hash")
		for _, script := range regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(page, -1) {
			sum := sha256.Sum256([]byte(script[1]))
			require.Contains(t, policy[0], "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
		}
	}
	_, page := get(t, server.URL+"/temporal/")
	asset := regexp.MustCompile(`/temporal/_app/immutable/entry/start\.[^"]+\.js`).FindString(page)
	response, _ := get(t, server.URL+asset)
	require.Equal(t, http.StatusOK, response.StatusCode, asset)
	require.Contains(t, response.Header.Get("Content-Type"), "javascript")
}

// The pages keep the columns of their lists under a key, and name them, as this version of the module does.
func TestUIListsNamesBeforeIDs(t *testing.T) {
	t.Parallel()
	server := uiServer(t, frontend.UIOptions{Frontend: bundled(t, "127.0.0.1:1")})
	_, page := get(t, server.URL+"/temporal/namespaces/slipway/workflows")
	set := regexp.MustCompile(`localStorage\.setItem\("([a-z-]+)", (".*?")\) }`).FindStringSubmatch(page)
	require.NotNil(t, set, page)
	require.Less(t, strings.Index(page, set[0]), strings.Index(page, "import("), "before the pages read it")
	var value string
	require.NoError(t, json.Unmarshal([]byte(set[2]), &value))
	columns := map[string][]struct{ Label string }{}
	require.NoError(t, json.Unmarshal([]byte(value), &columns))
	require.NotEmpty(t, columns["slipway"])

	scripts := moduleScripts(t)
	require.Contains(t, scripts, set[1])
	for _, column := range columns["slipway"] {
		if !slices.Contains([]string{"State", "ClusterName", "HostName", "WaitingFor"}, column.Label) { // search attributes of ours
			require.Contains(t, scripts, `{label:"`+column.Label+`"}`)
		}
	}
}

// The module titles the page of a workflow by its id, which the script replaces. What it shows then, test/e2e tests in a browser.
func TestUITitlesWorkflowsByName(t *testing.T) {
	t.Parallel()
	server := uiServer(t, frontend.UIOptions{Frontend: bundled(t, "127.0.0.1:1")})
	_, page := get(t, server.URL+"/temporal/namespaces/slipway/workflows")
	title := strings.Index(page, "document.title")
	require.Positive(t, title)
	require.Less(t, title, strings.Index(page, "</head>"))
	require.Regexp(t, "`\\$\\{\\w+\\(\"workflows\\.workflow-history\"\\)\\} \\| \\$\\{\\w+\\.params\\.workflow\\}`", moduleScripts(t))
}

// moduleScripts returns all scripts of the module.
func moduleScripts(t *testing.T) string {
	t.Helper()
	assets, err := ui.Assets()
	require.NoError(t, err)
	var all strings.Builder
	require.NoError(t, fs.WalkDir(assets, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".js") {
			return err
		}
		script, err := fs.ReadFile(assets, path)
		all.Write(script)
		return err
	}))
	return all.String()
}

func TestUISettings(t *testing.T) {
	t.Parallel()
	server := uiServer(t, frontend.UIOptions{Frontend: bundled(t, "127.0.0.1:1"), ReadOnly: true})
	response, body := get(t, server.URL+"/temporal/api/v1/settings")
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Contains(t, body, `"DefaultNamespace":"slipway"`)
	require.Contains(t, body, `"DisableWriteActions":true`)
	require.Contains(t, body, `"StartWorkflowDisabled":true`, "a copy of a workflow would work on the rows of another one")
}

// What the pages do with the endpoint is by reading of the web UI's bundle: fetch(`${endpoint}/decode?...`).
func TestUIOpensPayloadsUnderEveryName(t *testing.T) {
	t.Parallel()
	codec := converter.NewZlibCodec(converter.ZlibCodecOptions{AlwaysEncode: true})
	server := uiServer(t, frontend.UIOptions{
		Frontend: bundled(t, "127.0.0.1:1"), Codec: converter.NewPayloadCodecHTTPHandler(codec),
	})
	packed, err := codec.Encode([]*commonpb.Payload{{Data: []byte("worker-1")}})
	require.NoError(t, err)
	question, err := protojson.Marshal(&commonpb.Payloads{Payloads: packed})
	require.NoError(t, err)
	for _, name := range []string{"localhost:18310", "slipway.example", "127.0.0.1:8090", "[::1]:8090"} {
		page, err := url.Parse("http://" + name + "/temporal/namespaces/slipway/workflows")
		require.NoError(t, err)
		var settings struct{ Codec struct{ Endpoint string } }
		_, body := ask(t, server, http.MethodGet, name, "/temporal/api/v1/settings", "")
		require.NoError(t, json.Unmarshal([]byte(body), &settings))
		target, err := page.Parse(settings.Codec.Endpoint + "/decode?preserveStorageRefs=true")
		require.NoError(t, err)
		require.Equal(t, page.Host, target.Host, "another origin is blocked by the policy of the pages")

		// A browser sends Sec-Fetch-Site to localhost and over TLS only; the pages send no CSRF token here.
		response, body := ask(t, server, http.MethodPost, name, target.RequestURI(), string(question))
		require.Equal(t, http.StatusOK, response.StatusCode, body)
		var opened commonpb.Payloads
		require.NoError(t, protojson.Unmarshal([]byte(body), &opened))
		require.Equal(t, "worker-1", string(opened.GetPayloads()[0].GetData()))
	}
}

func TestUIWithoutCodecNamesNone(t *testing.T) {
	t.Parallel()
	server := uiServer(t, frontend.UIOptions{Frontend: bundled(t, "127.0.0.1:1")})
	_, body := ask(t, server, http.MethodGet, "localhost", "/temporal/api/v1/settings", "")
	require.Contains(t, body, `"Codec":{"Endpoint":"",`)
}

// ask sends a request for a server that is reached by another name.
func ask(t *testing.T, server *httptest.Server, method, host, path, body string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	request.Host = host
	request.Header.Set("Content-Type", "application/json")
	response, err := httpclient.New(t).Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response, string(text)
}
