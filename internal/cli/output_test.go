package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cli"
	"slipway/internal/wire"
)

func TestOutputForPrograms(t *testing.T) {
	t.Parallel()
	url := new(fake).serve(t)
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"names of a list", []string{"cluster", "list", "-o", "name"}, "cluster/green\ncluster/twin\ncluster/twin\n"},
		{"the name of an object", []string{"infra-env", "show", "infra-env/green_infra-env", "-o", "name"}, "infra-env/green_infra-env\n"},
		{"names of hosts", []string{"host", "list", "-o", "name"}, "host/worker-0\nhost/master-0\n"},
		{"an expression", []string{"cluster", "show", "cluster/green", "-o", "jsonpath={.name} {.progress.total_percentage}"}, "green 42\n"},
		{"an expression without braces", []string{"cluster", "show", "green", "-o", "jsonpath=.status"}, "installing\n"},
		{"an expression on a list", []string{"cluster", "list", "-o", "jsonpath={[*].name}"}, "green twin twin\n"},
		{"a field that is absent", []string{"cluster", "show", "green", "-o", "jsonpath=.colour"}, "\n"},
		{"a list of one status", []string{"cluster", "list", "--status", "installing", "-o", "name"}, "cluster/green\n"},
		{"hosts of one role", []string{"host", "list", "--role", "master", "-o", "name"}, "host/master-0\n"},
		{"hosts of one status", []string{"host", "list", "--status", "error,known", "-o", "name"}, "host/worker-0\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, err := run(t, url, c.args...)
			require.NoError(t, err)
			require.Equal(t, c.want, out)
		})
	}
	out, err := run(t, url, "cluster", "show", "green", "-o", "yaml")
	require.NoError(t, err)
	require.Contains(t, out, "\nname: green\n")
	out, err = run(t, url, "host", "list", "--no-headers")
	require.NoError(t, err)
	require.NotContains(t, out, "STATUS")
	require.Len(t, strings.Split(strings.TrimSpace(out), "\n"), 2)
}

func TestOutputFormatsThatCannotBe(t *testing.T) {
	t.Parallel()
	url := new(fake).serve(t)
	for format, want := range map[string]string{
		"xml":               `require table, json, yaml, name or jsonpath=EXPRESSION, found "xml"`,
		"jsonpath":          "require table, json, yaml, name or jsonpath=EXPRESSION",
		"jsonpath={.name":   "read the expression of jsonpath: unclosed action",
		"json=x":            "require table, json, yaml, name or jsonpath=EXPRESSION",
		"jsonpath={.name[1": "read the expression of jsonpath",
	} {
		_, err := run(t, url, "cluster", "list", "-o", format)
		require.ErrorContains(t, err, want, format)
		require.Equal(t, 2, cli.ExitCode(err), format)
	}
	_, err := run(t, url, "cluster", "list", "--status", "rready")
	require.ErrorContains(t, err, `--status: require a status of the API, such as ready or known, found "rready"`)
	_, err = run(t, url, "operators", "list", "-o", "name")
	require.Error(t, err)
}

// Followers read a line at a time; a JSON array would never end.
func TestFollowedEventsAreJSONLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	terminal := &cli.Terminal{Out: &out, Err: &out, Now: time.Now}
	ctx, stop := context.WithCancel(t.Context())
	service := &fake{noMoreEvents: stop}
	_, err := typeUntil(ctx, t, terminal, &out, service.serve(t), "cluster", "events", "green", "--follow", "-o", "json")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 2)
	for _, line := range lines {
		var e wire.Event
		require.NoError(t, json.Unmarshal([]byte(line), &e), line)
		require.NotEmpty(t, e.Message)
	}
}

// A limit is of the events before the first that is waited for.
func TestFollowedEventsBeginWithTheNewest(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	terminal := &cli.Terminal{Out: &out, Err: &out, Now: time.Now}
	ctx, stop := context.WithCancel(t.Context())
	service := &fake{noMoreEvents: stop}
	_, err := typeUntil(ctx, t, terminal, &out, service.serve(t), "cluster", "events", "green", "--follow", "--limit", "1", "-o", "json")
	require.NoError(t, err)
	var e wire.Event
	require.NoError(t, json.Unmarshal(out.Bytes(), &e), "one line")
	require.Equal(t, "host failed", e.Message)
}

func TestReasonsWrapAtTheWidthOfTheTerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	terminal := &cli.Terminal{Out: &out, Err: &out, Now: func() time.Time { return now }, Interactive: true, Width: 60}
	_, err := typeOn(t, terminal, &out, new(fake).serve(t), "cluster", "show", "green")
	require.NoError(t, err)
	require.Contains(t, out.String(), "api-vips-defined  cluster   require an API address, found\n                            none\n")
}

func TestACommandShowsTheStatusThatItLeadsTo(t *testing.T) {
	t.Parallel()
	service := &fake{statuses: []wire.ClusterStatus{
		wire.ClusterStatusInstalling, wire.ClusterStatusInstalling, wire.ClusterStatusInstalling, wire.ClusterStatusCancelled,
	}}
	out, err := run(t, service.serve(t), "cluster", "cancel", "green")
	require.NoError(t, err)
	require.Equal(t, "cluster green: cancelled\n", out)
	out, err = run(t, new(fake).serve(t), "cluster", "cancel", "green")
	require.NoError(t, err)
	require.Equal(t, "cluster green: still installing, the command is accepted\n", out)
}

func TestADeleteThatTakesCredentialsAsks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in      string
		alone   bool
		flags   []string
		want    string
		deleted bool
	}{
		"yes":         {in: "y\n", want: "cluster green deleted", deleted: true},
		"no":          {in: "n\n", want: "nothing was changed"},
		"no answer":   {in: "", want: "nothing was changed"},
		"no terminal": {alone: true, want: "require --yes without a terminal"},
		"answered":    {alone: true, flags: []string{"--yes"}, want: "cluster green deleted", deleted: true},
		"the InfraEnv stays": {
			alone: true, flags: []string{"-y", "--keep-infra-env"}, want: "cluster green deleted", deleted: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := &fake{statuses: []wire.ClusterStatus{wire.ClusterStatusInstalled}}
			var out bytes.Buffer
			terminal := &cli.Terminal{Out: &out, Err: &out, Now: time.Now}
			if !c.alone {
				terminal.In = strings.NewReader(c.in)
			}
			text, err := typeOn(t, terminal, &out, service.serve(t), append([]string{"cluster", "delete", "green"}, c.flags...)...)
			if err != nil {
				text += err.Error()
			}
			require.Contains(t, text, c.want)
			require.Equal(t, c.deleted, len(service.requests) > 0, "%s", service.requests)
			if !c.alone {
				require.Contains(t, text, "Cluster green is installed: its kubeconfig and the password of kubeadmin are deleted with it. Continue?")
			}
			if c.deleted {
				require.Equal(t, len(c.flags) < 2, strings.Contains(text, "InfraEnv green_infra-env deleted"))
			}
		})
	}
}

func TestNamesThatExistAreRefused(t *testing.T) {
	t.Parallel()
	url, secret := new(fake).serve(t), file(t, "secret", "{}")
	for want, args := range map[string][]string{
		"cluster green exists already: " + clusterID.String(): {
			"cluster", "create", "green", "--base-domain", "example.com", "--pull-secret", secret,
		},
		"InfraEnv green_infra-env exists already: " + envID.String(): {"infra-env", "create", "green_infra-env", "--pull-secret", secret},
	} {
		_, err := run(t, url, args...)
		require.ErrorContains(t, err, want)
		require.Equal(t, 4, cli.ExitCode(err))
	}
}

func TestSettingAPartOfAProxyKeepsTheOthers(t *testing.T) {
	t.Parallel()
	service := new(fake)
	_, err := run(t, service.serve(t), "infra-env", "set", "green_infra-env", "--no-proxy", "c.d", "--https-proxy=")
	require.NoError(t, err)
	require.Len(t, service.requests, 1)
	require.Contains(t, service.requests[0], `"proxy":{"http_proxy":"http://a:1","no_proxy":"c.d"}`)
	service = new(fake)
	_, err = run(t, service.serve(t), "infra-env", "set", "green_infra-env", "--static-network", "", "--ignition=")
	require.NoError(t, err)
	require.Contains(t, service.requests[0], `"static_network_config":[]`)
	require.Contains(t, service.requests[0], `"ignition_config_override":""`)
}

func TestDurationsHaveUnits(t *testing.T) {
	t.Parallel()
	url := new(fake).serve(t)
	for _, text := range []string{"3", "soon", "1w", "d", "200000d"} {
		_, err := run(t, url, "wait", "cluster", "green", "--for", "installing", "--timeout", text)
		require.ErrorContains(t, err, "require", text)
		require.Equal(t, 2, cli.ExitCode(err))
	}
	for _, text := range []string{"30d", "1d12h", "90s", "0d5s"} {
		_, err := run(t, url, "wait", "cluster", "green", "--for", "installing", "--timeout", text)
		require.NoError(t, err, text)
	}
}

// A pipe may end in a terminal: what hosts call themselves acts on none.
func TestTextsOfHostsActOnNoTerminal(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/events") {
			_, _ = fmt.Fprintf(w, `[{"cluster_id":%q,"message":"host \u001b]0;TITLE\u0007\u202eevil joined","event_time":"2026-11-28T10:00:00Z"}]`, clusterID)
			return
		}
		_, _ = fmt.Fprintf(w, `{"id":%q,"name":"green","status":"ready"}`, clusterID)
	}))
	t.Cleanup(service.Close)
	out, err := run(t, service.URL, "cluster", "events", clusterID.String())
	require.NoError(t, err)
	require.Contains(t, out, "evil joined")
	require.NotContains(t, out, "\x1b")
	require.NotContains(t, out, "\u202e")
	out, err = run(t, service.URL, "cluster", "events", clusterID.String(), "-o", "json")
	require.NoError(t, err)
	require.Contains(t, out, `\u001b`, "programs get the message as it is")
}
