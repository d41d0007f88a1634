package sim

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"

	"slipway/internal/sim/site"
)

// configPort is the port of a cluster's machine config server, for machines that are not nodes yet.
const configPort = "22624"

// elsewhere is the machine's way to other servers than the service: the machine config
// server of its site's cluster, and what its transport reaches.
type elsewhere struct{ *Machine }

// RoundTrip implements http.RoundTripper.
func (e elsewhere) RoundTrip(r *http.Request) (*http.Response, error) {
	if e.cut() {
		return nil, errNoCarrier
	}
	if r.URL.Port() != configPort {
		return e.options.Transport.RoundTrip(r)
	}
	host := r.URL.Hostname()
	if _, err := netip.ParseAddr(host); err != nil {
		if _, err := (site.Resolver{Site: e.options.Site}).LookupNetIP(r.Context(), "ip", host); err != nil {
			return nil, err
		}
	}
	api := e.options.Site.API()
	if api == "" {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("connect to %s: connection refused", r.URL.Host)}
	}
	target, err := url.Parse(api)
	if err != nil {
		return nil, err
	}
	sent := r.Clone(r.Context())
	sent.URL.Host, sent.Host = target.Host, r.URL.Host
	return http.DefaultTransport.RoundTrip(sent)
}
