package agent_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
)

func TestTangServersAreAskedForTheirKeys(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/adv/one":
			fmt.Fprint(w, `{"payload":"keys","protected":"p","signature":"s"}`)
		case "/adv/many":
			fmt.Fprint(w, `{"payload":"keys","signatures":[{"protected":"p","signature":"s"},{"protected":"q","signature":"t"}]}`)
		case "/adv/text":
			fmt.Fprint(w, `<html>`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	list := func(thumbprints ...string) string {
		var entries []string
		for _, p := range thumbprints {
			entries = append(entries, fmt.Sprintf(`{\"url\":\"%s\",\"thumbprint\":\"%s\"}`, server.URL, p))
		}
		return `{"tang_servers":"[` + strings.Join(entries, ",") + `]"}`
	}
	for name, c := range map[string]struct {
		arg    string
		code   int
		output string
		err    string
	}{
		"a server with one signature and one with two": {
			arg: list("one", "many"),
			output: fmt.Sprintf(`{"is_success":true,"tang_server_response":[
				{"tang_url":%q,"payload":"keys","signatures":[{"protected":"p","signature":"s"}]},
				{"tang_url":%q,"payload":"keys","signatures":[{"protected":"p","signature":"s"},{"protected":"q","signature":"t"}]}]}`,
				server.URL, server.URL),
		},
		"one of two that does not know the keys": {arg: list("one", "other"), code: -1, err: "404"},
		"one that is something else":             {arg: list("text"), code: -1, err: "read the keys"},
		"an invalid list":                        {arg: `{"tang_servers":"no list"}`, code: -1, err: "list of Tang servers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := newService(t), newHost(t)
			h.start(t, s)
			s.Give("tang-1", wire.StepTypeTangConnectivityCheck, c.arg)
			reply := s.AwaitReply(t, "tang-1")
			require.Equal(t, c.code, reply.ExitCode, reply.Error)
			if c.output != "" {
				require.JSONEq(t, c.output, reply.Output)
			}
			require.Contains(t, reply.Error, c.err)
		})
	}
}
