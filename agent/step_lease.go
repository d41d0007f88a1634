package agent

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

const (
	// leaseDir is where the leases of virtual addresses are kept
	// (docs/reference/agent-protocol.md, "Leases").
	leaseDir = "/etc/keepalived"
	// leaseSeconds is how long a DHCP server may take.
	leaseSeconds = "28"
)

var fixedAddress = regexp.MustCompile(`fixed-address\s+([0-9.]+)\s*;`)

// errLeased ends the DHCP client that has done its work.
var errLeased = errors.New("the address is leased")

// leaseAllocation asks a DHCP server for the virtual addresses of the cluster, each under
// a hardware address of its own, which an interface has as long as that takes.
func (a *Agent) leaseAllocation(ctx context.Context, req *wire.DhcpAllocationRequest) (wire.DhcpAllocationResponse, error) {
	var response wire.DhcpAllocationResponse
	for _, vip := range []struct{ name, mac, known string }{
		{"api", req.APIVipMac, req.APIVipLease}, {"ingress", req.IngressVipMac, req.IngressVipLease},
	} {
		lease, address, err := a.leaseAddress(ctx, req.Interface, vip.name, vip.mac, vip.known)
		if err != nil {
			return response, fmt.Errorf("lease the %s address: %w", vip.name, err)
		}
		if vip.name == "api" {
			response.APIVipLease, response.APIVipAddress = lease, address.String()
		} else {
			response.IngressVipLease, response.IngressVipAddress = lease, address.String()
		}
	}
	return response, nil
}

func (a *Agent) leaseAddress(ctx context.Context, nic, name, mac, known string) (lease string, address netip.Addr, err error) {
	file := path.Join(leaseDir, "lease-"+name)
	onHost := a.host.Root.Path(file)
	if err := os.MkdirAll(filepath.Dir(onHost), 0o755); err != nil {
		return "", address, fmt.Errorf("make %s: %w", leaseDir, err)
	}
	if err := os.WriteFile(onHost, []byte(known), 0o644); err != nil {
		return "", address, fmt.Errorf("write the known lease: %w", err)
	}
	_, _ = a.ip(ctx, "link", "delete", name) // of a step that was cut short
	if _, err := a.ip(ctx, "link", "add", name, "link", nic, "address", mac, "type", "macvlan"); err != nil {
		return "", address, err
	}
	defer func() {
		_, deleteErr := a.ip(context.WithoutCancel(ctx), "link", "delete", name)
		err = errors.Join(err, deleteErr)
	}()
	if _, err := a.ip(ctx, "link", "set", name, "up"); err != nil {
		return "", address, err
	}
	if err := a.dhclient(ctx, name, mac, file); err != nil {
		return "", address, err
	}
	return readLease(onHost)
}

// dhclient runs the DHCP client until it has a lease. It stays in the foreground and is
// ended here: in the background it would outlive its interface, one more with each step.
// The host name is a setting and no argument, which only that of one distribution has.
func (a *Agent) dhclient(ctx context.Context, name, mac, leases string) error {
	settings := path.Join(leaseDir, "dhclient-"+name+".conf")
	text := fmt.Sprintf("send host-name \"%s-%s\";\n", strings.ReplaceAll(mac, ":", "-"), name)
	if err := os.WriteFile(a.host.Root.Path(settings), []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the settings of the DHCP client: %w", err)
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	said := ""
	_, err := a.host.Runner.Run(ctx, hostexec.Cmd{
		Name: "timeout",
		Args: []string{leaseSeconds, "dhclient", "-d", "-v", "-cf", settings, "-sf", "/bin/true", "-lf", leases, "--no-pid", "-1", name},
		Output: func(chunk []byte) {
			// It says so once the lease is in its file.
			if said += string(chunk); strings.Contains(said, "bound to ") {
				end(errLeased)
			}
		},
	})
	if errors.Is(context.Cause(ctx), errLeased) {
		return nil
	}
	return err
}

func (a *Agent) ip(ctx context.Context, args ...string) (hostexec.Result, error) {
	return a.host.Runner.Run(ctx, hostexec.Cmd{Name: "ip", Args: args})
}

// readLease reads the last lease of a file, the one that holds.
func readLease(file string) (lease string, address netip.Addr, err error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", address, fmt.Errorf("read the lease: %w", err)
	}
	lease = string(content)
	if i := strings.LastIndex(lease, "lease {"); i > 0 {
		lease = lease[i:]
	}
	match := fixedAddress.FindStringSubmatch(lease)
	if match == nil {
		return "", address, errors.New("require an address in the lease, found none")
	}
	address, err = netip.ParseAddr(match[1])
	return lease, address, err
}
