package staticnet_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/staticnet"
)

// largeStates makes settings of n names that refer to each other, by kind.
func largeStates(n int) map[string]string {
	var interfaces, routes, rules, ports, configs strings.Builder
	for i := range n {
		fmt.Fprintf(&interfaces, "- {name: d%d, type: dummy}\n", i)
		fmt.Fprintf(&ports, "{name: d%d},", i)
		fmt.Fprintf(&rules, "  - {ip-from: 10.0.%d.%d, route-table: 9}\n", i/256, i%256)
		if i < n/2 {
			fmt.Fprintf(&routes, "  - {destination: 10.0.%d.%d, next-hop-interface: eth0}\n", i/256, i%256)
			fmt.Fprintf(&configs, "{name: d%d, priority: 1},", i)
		}
	}
	dhcp := "interfaces:\n- {name: eth0, ipv4: {enabled: true, dhcp: true}}\n"
	half := strings.Join(strings.SplitAfter(interfaces.String(), "\n")[:n/2], "")
	return map[string]string{
		"rules":  dhcp + interfaces.String() + "routes:\n  config:\n" + routes.String() + "route-rules:\n  config:\n" + rules.String(),
		"bridge": dhcp + interfaces.String() + "- {name: br, type: linux-bridge, bridge: {port: [" + ports.String() + "]}}\n",
		"bond":   dhcp + half + "- {name: bo, type: bond, link-aggregation: {mode: active-backup, ports-config: [" + configs.String() + "]}}\n",
	}
}

// A user's settings may name thousands of things that refer to each other, and are read
// with the InfraEnv locked. BenchmarkFiles compares the costs of a name.
func TestSettingsWithThousandsOfNamesAreRead(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]struct {
		names int
		line  string
		count int
	}{
		"rules":  {2000, "routing-rule", 2000},
		"bridge": {2500, "master=br", 2500},
		"bond":   {2500, "[bond-port]", 1250},
	} {
		files, err := staticnet.Files(parse(t, largeStates(want.names)[what]), staticnet.MethodNMState)
		require.NoError(t, err, what)
		found := 0
		for _, file := range files {
			if strings.HasSuffix(file.Path, ".nmconnection") {
				found += bytes.Count(file.Content, []byte("\n"+want.line))
			}
		}
		require.Equal(t, want.count, found, what)
	}
}

// BenchmarkFiles reads and writes settings of few and of many names, in turns, and
// reports the cost of a name in each and their ratio.
func BenchmarkFiles(b *testing.B) {
	sizes := [2]int{250, 2000}
	few, many := largeStates(sizes[0]), largeStates(sizes[1])
	for what := range few {
		b.Run(what, func(b *testing.B) {
			configs := [2]string{config(b, few[what]), config(b, many[what])}
			var took [2]time.Duration
			for b.Loop() {
				for i, text := range configs {
					begun := time.Now()
					hosts, err := staticnet.Parse(text)
					require.NoError(b, err)
					_, err = staticnet.Files(hosts, staticnet.MethodNMState)
					require.NoError(b, err)
					took[i] += time.Since(begun)
				}
			}
			per := func(i int) float64 { return float64(took[i].Nanoseconds()) / float64(b.N*sizes[i]) }
			b.ReportMetric(per(0), "ns/name-of-250")
			b.ReportMetric(per(1), "ns/name-of-2000")
			b.ReportMetric(per(1)/per(0), "ratio")
		})
	}
}
