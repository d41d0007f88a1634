package agent_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/run"
	"slipway/internal/run/runtest"
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
				{"tang_url":%q,"payload":"keys","signatures":[{"protected":"p","signature":"s"},{"protected":"q","signature":"t"}]}]}`, server.URL, server.URL),
		},
		"one of two that does not know the keys": {arg: list("one", "other"), code: -1, err: "404"},
		"one that is something else":             {arg: list("text"), code: -1, err: "read the keys"},
		"a list that is none":                    {arg: `{"tang_servers":"no list"}`, code: -1, err: "list of Tang servers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := newService(t), newHost(t)
			h.start(t, s)
			s.give("tang-1", wire.StepTypeTangConnectivityCheck, c.arg)
			reply := s.awaitReply(t, "tang-1")
			require.Equal(t, c.code, reply.ExitCode, reply.Error)
			if c.output != "" {
				require.JSONEq(t, c.output, reply.Output)
			}
			require.Contains(t, reply.Error, c.err)
		})
	}
}

const leaseRequest = `{"interface":"eth0","api_vip_mac":"02:00:00:00:00:0a","ingress_vip_mac":"02:00:00:00:00:0b","api_vip_lease":"lease {\n  fixed-address 192.0.2.50;\n}\n"}`

func TestVirtualAddressesAreLeased(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	h.On("ip link", runtest.Prints(""))
	h.On("ip link delete", runtest.Fails(1, "cannot find device"))
	addresses := map[string]string{"api": "192.0.2.50", "ingress": "192.0.2.51"}
	var known string
	h.On("timeout 28 dhclient", func(_ context.Context, c run.Cmd) (run.Result, error) {
		name := c.Args[len(c.Args)-1]
		file := h.root.Path("/etc/keepalived/lease-" + name)
		before, err := os.ReadFile(file)
		if name == "api" {
			known = string(before)
		}
		if err == nil {
			// The interface is there from here on: its deletion succeeds.
			h.On("ip link delete "+name, runtest.Prints(""))
			err = os.WriteFile(file, append(before, []byte("lease {\n  interface \""+name+"\";\n  fixed-address "+addresses[name]+";\n}\n")...), 0o644)
		}
		return run.Result{}, err
	})
	h.start(t, s)
	s.give("lease-1", wire.StepTypeDhcpLeaseAllocate, leaseRequest)
	reply := s.awaitReply(t, "lease-1")
	require.Zero(t, reply.ExitCode, reply.Error)
	require.JSONEq(t, `{"api_vip_address":"192.0.2.50","api_vip_lease":"lease {\n  interface \"api\";\n  fixed-address 192.0.2.50;\n}\n",
		"ingress_vip_address":"192.0.2.51","ingress_vip_lease":"lease {\n  interface \"ingress\";\n  fixed-address 192.0.2.51;\n}\n"}`, reply.Output)
	require.Contains(t, known, "192.0.2.50", "the lease known to the service is asked for again")
	require.Equal(t, 1, h.Count("ip link add api link eth0 address 02:00:00:00:00:0a type macvlan"))
	require.Equal(t, 1, h.Count("timeout 28 dhclient -v -H 02-00-00-00-00-0b-ingress -sf /bin/true -lf /etc/keepalived/lease-ingress --no-pid -1 ingress"))
	require.Equal(t, 2, h.Count("ip link delete ingress"), "before and after")
}

func TestALeaseThatDoesNotComeFailsTheStep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dhclient runtest.Answer
		removed  bool // the file of the lease
		says     string
	}{
		"no server answers":      {runtest.Fails(124, "timed out"), false, "lease the api address"},
		"a lease of no address":  {runtest.Prints(""), false, "require an address in the lease"},
		"a lease that went lost": {runtest.Prints(""), true, "read the lease"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := newService(t), newHost(t)
			h.On("ip link", runtest.Prints(""))
			h.On("timeout 28 dhclient", func(ctx context.Context, cmd run.Cmd) (run.Result, error) {
				if c.removed {
					require.NoError(t, os.Remove(h.root.Path("/etc/keepalived/lease-api")))
				}
				return c.dhclient(ctx, cmd)
			})
			h.start(t, s)
			s.give("lease-1", wire.StepTypeDhcpLeaseAllocate, `{"interface":"eth0","api_vip_mac":"02:00:00:00:00:0a","ingress_vip_mac":"02:00:00:00:00:0b"}`)
			reply := s.awaitReply(t, "lease-1")
			require.NotZero(t, reply.ExitCode)
			require.Contains(t, reply.Error, c.says)
			require.Equal(t, 2, h.Count("ip link delete api"), "nothing is left behind")
		})
	}
}
