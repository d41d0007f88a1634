package inventory_test

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent/inventory"
	"slipway/internal/platform/hostexec"
	"slipway/internal/testing/hostexectest"
)

// tree is a root file system of a test: files by path; "-> x" makes a link to x, a path
// that ends with a slash a folder.
type tree map[string]string

func (files tree) plant(t *testing.T) hostexec.Root {
	t.Helper()
	root := t.TempDir()
	for path, content := range files {
		place := filepath.Join(root, path)
		if strings.HasSuffix(path, "/") {
			require.NoError(t, os.MkdirAll(place, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(place), 0o755))
		if target, link := strings.CutPrefix(content, "-> "); link {
			require.NoError(t, os.Symlink(target, place))
			continue
		}
		require.NoError(t, os.WriteFile(place, []byte(content), 0o644))
	}
	return hostexec.Root(root)
}

// network is the links and routes of a machine that does not change.
type network struct {
	links  []inventory.Link
	routes []inventory.Route
}

func (n network) Links() ([]inventory.Link, error)   { return n.links, nil }
func (n network) Routes() ([]inventory.Route, error) { return n.routes, nil }

func link(name, mac, kind string, addresses ...string) inventory.Link {
	hardware, err := net.ParseMAC(mac)
	if err != nil {
		panic(err)
	}
	l := inventory.Link{Name: name, MAC: hardware, MTU: 1500, Type: kind, Flags: net.FlagUp | net.FlagBroadcast, HasCarrier: true}
	for _, a := range addresses {
		l.Addresses = append(l.Addresses, netip.MustParsePrefix(a))
	}
	return l
}

func loopback() inventory.Link {
	return inventory.Link{
		Name: "lo", MAC: net.HardwareAddr{0, 0, 0, 0, 0, 0}, MTU: 65536, Type: "device", Flags: net.FlagUp | net.FlagLoopback,
		Addresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/8")},
	}
}

// machine makes a machine of a tree, a network and commands.
func machine(t *testing.T, files tree, links network, commands map[string]hostexectest.Answer) inventory.Machine {
	t.Helper()
	return inventory.Machine{Root: files.plant(t), Runner: hostexectest.New(commands), Links: links}
}
