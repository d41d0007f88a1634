package ignition_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/ignition"
	"slipway/internal/hostconfig/staticnet"
)

// BenchmarkDiscovery makes the config of a plain InfraEnv.
func BenchmarkDiscovery(b *testing.B) { benchmark(b, minimal()) }

// BenchmarkDiscoveryOfThousand makes a config with the network settings of a thousand hosts.
func BenchmarkDiscoveryOfThousand(b *testing.B) {
	in := minimal()
	for i := range 1000 {
		in.StaticNetwork = append(
			in.StaticNetwork,
			staticnet.File{
				Path:    fmt.Sprintf("/etc/assisted/network/host%d/eth0.nmconnection", i),
				Mode:    0o600,
				Content: []byte("[connection]\nid=\"eth0\"\n\n[ipv4]\nmethod=manual\n"),
			},
			staticnet.File{
				Path:    fmt.Sprintf("/etc/assisted/network/host%d/mac_interface.ini", i),
				Mode:    0o600,
				Content: []byte("52:54:00:00:00:01=eth0\n"),
			},
		)
	}
	benchmark(b, in)
}

func benchmark(b *testing.B, in ignition.DiscoveryInput) {
	for b.Loop() {
		_, err := ignition.Discovery(in)
		require.NoError(b, err)
	}
}
