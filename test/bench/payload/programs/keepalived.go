package programs

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
)

// Virtual routers of the two kinds of floating addresses, and priorities: the bootstrap
// host keeps the API until it leaves.
const (
	apiRouter         = 51
	ingressRouter     = 52
	bootstrapPriority = 70
	masterPriority    = 40
)

// Keepalived moves the floating addresses. An address stays where its server answers.
func (h *Host) Keepalived() Command {
	var b strings.Builder
	b.WriteString("global_defs {\n    enable_script_security\n    script_user root\n    max_auto_priority -1\n}\n")
	check(&b, "api", "https://localhost:6443/readyz", h.patience())
	h.router(&b, "api", apiRouter, h.Plan.APIVIPs)
	if h.Role != "bootstrap" {
		check(&b, "ingress", fmt.Sprintf("https://%s/healthz", hostPart(h.Address.Addr())), h.patience())
		h.router(&b, "ingress", ingressRouter, h.Plan.IngressVIPs)
	}
	path := filepath.Join(h.State, "keepalived.conf")
	return Command{
		Argv: []string{
			"/usr/sbin/keepalived", "--dont-fork", "--log-console", "--vrrp", "--use-file=" + path,
			"--pid=" + filepath.Join(h.State, "keepalived.pid"), "--vrrp_pid=" + filepath.Join(h.State, "vrrp.pid"),
		},
		Files: map[string][]byte{path: []byte(b.String())},
	}
}

func hostPart(a netip.Addr) string {
	if a.Is6() {
		return "[" + a.String() + "]"
	}
	return a.String()
}

// patience is how often, in seconds, something is asked, and how many misses in a row count.
type patience struct{ every, misses int }

// patience of masters is chosen for the bench; a bootstrap host gives the address away after more than four misses of its
// API (openshift/baremetal-runtimecfg, pkg/monitor/dynkeepalived.go). A real one asks every second; on an emulated
// processor one question costs half of that, and the API would have nothing left to answer with.
func (h *Host) patience() patience {
	if h.Role == "bootstrap" {
		return patience{every: 10, misses: 5}
	}
	return patience{every: 15, misses: 2}
}

func check(b *strings.Builder, name, url string, p patience) {
	// Without authorities to read, which --insecure does not save, curl costs half.
	fmt.Fprintf(b, `vrrp_script %s {
    script "/usr/bin/curl --silent --fail --insecure --cacert /dev/null --output /dev/null --max-time 20 %s"
    interval %d
    timeout 25
    rise 1
    fall %d
    init_fail
}
`, name, url, p.every, p.misses)
}

func (h *Host) router(b *strings.Builder, name string, id int, vips []netip.Addr) {
	if len(vips) == 0 {
		return
	}
	priority := masterPriority
	if h.Role == "bootstrap" {
		priority = bootstrapPriority
	}
	fmt.Fprintf(
		b,
		"vrrp_instance %s {\n    state BACKUP\n    interface %s\n    virtual_router_id %d\n    priority %d\n    advert_int 3\n",
		name,
		h.Interface,
		id,
		priority,
	)
	fmt.Fprintf(b, "    virtual_ipaddress {\n")
	for _, vip := range vips {
		fmt.Fprintf(b, "        %s/%d\n", vip, vip.BitLen())
	}
	fmt.Fprintf(b, "    }\n    track_script {\n        %s\n    }\n}\n", name)
}
