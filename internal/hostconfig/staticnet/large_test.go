package staticnet_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/staticnet"
)

// A user's settings may name thousands of things that refer to each other. Reading them
// took half a minute when each was looked for among all, with the environment locked.
func TestSettingsWithThousandsOfNamesAreReadAtOnce(t *testing.T) {
	t.Parallel()
	var interfaces, routes, rules, ports strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&interfaces, "- {name: d%d, type: dummy}\n", i)
		fmt.Fprintf(&ports, "{name: d%d},", i)
	}
	for i := range 1200 {
		fmt.Fprintf(&routes, "  - {destination: 10.0.%d.%d, next-hop-interface: eth0}\n", i/256, i%256)
	}
	for i := range 2000 {
		fmt.Fprintf(&rules, "  - {ip-from: 10.0.%d.%d, route-table: 9}\n", i/256, i%256)
	}
	dhcp := "interfaces:\n- {name: eth0, ipv4: {enabled: true, dhcp: true}}\n"
	for name, state := range map[string]string{
		"rules":  dhcp + interfaces.String() + "routes:\n  config:\n" + routes.String() + "route-rules:\n  config:\n" + rules.String(),
		"bridge": dhcp + interfaces.String() + "- {name: br, type: linux-bridge, bridge: {port: [" + ports.String() + "]}}\n",
	} {
		begun := time.Now()
		_, err := staticnet.Files(parse(t, state), staticnet.MethodNMState)
		require.NoError(t, err, name)
		require.Less(t, time.Since(begun), 20*time.Second, name)
	}
}
