package agent_test

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"slipway/agent"
	"slipway/internal/wire"
)

// aliases is a load balancer by DNS whose pool has no member that is up: names are aliases of gtm.lb.example.com, which exists
// and has no address; "*." stands for all names below.
var aliases = []string{
	"api.test.example.com.", "api-int.test.example.com.", "*.apps.test.example.com.",
	"validateNoWildcardDNS.wild.example.com.",
}

// serveAliases answers on a port of this machine until the test ends, and returns a resolver that asks it.
func serveAliases(t *testing.T) *net.Resolver {
	t.Helper()
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	require.NoError(t, err)
	var served sync.WaitGroup
	served.Go(func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return
			}
			if reply := aliasReply(buffer[:n]); reply != nil {
				_, _ = conn.WriteToUDPAddrPort(reply, from)
			}
		}
	})
	t.Cleanup(func() {
		_ = conn.Close()
		served.Wait()
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp4", conn.LocalAddr().String())
	}}
}

func aliasReply(request []byte) []byte {
	var message dnsmessage.Message
	if message.Unpack(request) != nil || len(message.Questions) == 0 {
		return nil
	}
	message.Response, message.Authoritative, message.Additionals = true, true, nil
	asked := message.Questions[0].Name
	switch {
	case isAlias(asked.String()):
		message.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: asked, Type: dnsmessage.TypeCNAME, Class: dnsmessage.ClassINET, TTL: 30},
			Body:   &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName("gtm.lb.example.com.")},
		}}
	case asked.String() != "gtm.lb.example.com.":
		message.RCode = dnsmessage.RCodeNameError
	}
	reply, err := message.Pack()
	if err != nil {
		return nil
	}
	return reply
}

func isAlias(name string) bool {
	for _, alias := range aliases {
		below, wildcard := strings.CutPrefix(alias, "*")
		if strings.EqualFold(name, alias) || wildcard && strings.HasSuffix(name, below) {
			return true
		}
	}
	return false
}

func TestAliasWithoutAnAddressIsReported(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	resolver := serveAliases(t)
	h.start(t, s, func(o *agent.Options) { o.Platform.Resolver = resolver })
	s.Give("step-1", wire.StepTypeDomainResolution, `{"domains":[{"domain_name":"api.test.example.com"},
		{"domain_name":"api-int.test.example.com"},{"domain_name":"console-openshift-console.apps.test.example.com"},
		{"domain_name":"validateNoWildcardDNS.wild.example.com."},{"domain_name":"validateNoWildcardDNS.wild.example.com"},
		{"domain_name":"validateNoWildcardDNS.test.example.com"}]}`)
	reply := s.AwaitReply(t, "step-1")
	require.Zero(t, reply.ExitCode, reply.Error)
	require.JSONEq(t, `{"resolutions":[{"domain_name":"api.test.example.com","cnames":["gtm.lb.example.com."]},
		{"domain_name":"api-int.test.example.com","cnames":["gtm.lb.example.com."]},
		{"domain_name":"console-openshift-console.apps.test.example.com","cnames":["gtm.lb.example.com."]},
		{"domain_name":"validateNoWildcardDNS.wild.example.com.","cnames":["gtm.lb.example.com."]},
		{"domain_name":"validateNoWildcardDNS.wild.example.com","cnames":["gtm.lb.example.com."]},
		{"domain_name":"validateNoWildcardDNS.test.example.com"}]}`, reply.Output)
}
