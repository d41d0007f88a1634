package model

import (
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Ports of an existing cluster's machine config server: for hosts that know an authority that signed its certificate, and for others.
// Its configs hold credentials.
const (
	machineConfigPort      = 22623
	plainMachineConfigPort = 22624
)

// MachineConfigPool returns the pool of a host's configuration: the user's choice, else the pool of its role.
func (h *Host) MachineConfigPool() string {
	switch {
	case h.MachineConfigPoolName != "":
		return h.MachineConfigPoolName
	case h.EffectiveRole() == RoleMaster:
		return string(RoleMaster)
	}
	return string(RoleWorker)
}

// NodeConfigURL returns the address from which a host that joins the cluster gets its configuration: the
// ignition endpoint set by the user, or the cluster's machine config server. Where an authority is known that signed its
// certificate that is its TLS port, by the name in the certificate (api-int). An endpoint that is not a URL is returned unchanged.
func (c *Cluster) NodeConfigURL(h *Host, authorityKnown bool) string {
	pool := h.MachineConfigPool()
	if endpoint := c.IgnitionEndpoint.URL; endpoint != "" {
		u, err := url.Parse(endpoint)
		if err != nil {
			return endpoint
		}
		return u.JoinPath(pool).String()
	}
	host := strings.ToLower(c.APIVIPDNSName) // older versions stored it as it was sent
	switch {
	case host != "":
	case len(c.APIVIPs) > 0:
		host = c.APIVIPs[0].IP.String()
	default:
		host = "api." + c.Name + "." + c.BaseDNSDomain
	}
	scheme, port := "http://", plainMachineConfigPort
	if authorityKnown {
		scheme, port = "https://", machineConfigPort
		if domain, found := strings.CutPrefix(host, "api."); found {
			host = "api-int." + domain
		}
	}
	return scheme + net.JoinHostPort(host, strconv.Itoa(port)) + "/config/" + url.PathEscape(pool)
}
