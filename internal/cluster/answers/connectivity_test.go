package answers_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/answers"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// connectivity reads the field of a host.
func connectivity(t testing.TB, r model.ConnectivityReport) string {
	t.Helper()
	h := &model.Host{Connectivity: r}
	kept, inventory := answers.KeepHost(h)
	text, err := answers.AppendHost(nil, h, kept, inventory, answers.HostView{Connectivity: true})
	require.NoError(t, err)
	var host wire.Host
	require.NoError(t, json.Unmarshal(text, &host))
	return host.Connectivity
}

func TestConnectivityIsEncodedAsElsewhere(t *testing.T) {
	t.Parallel()
	numbers := []float64{0, math.Copysign(0, -1), 1, -1, 0.1, 1e-6, 9.9e-7, 1e-7, 1e20, 1e21, 123456.789}
	numbers = append(numbers, math.MaxFloat64, math.SmallestNonzeroFloat64)
	for seed := range uint64(200) {
		var report wire.ConnectivityReport
		r := rand.New(rand.NewPCG(seed, 5))
		random(r, reflect.ValueOf(&report).Elem())
		for i := range report.RemoteHosts {
			for j := range report.RemoteHosts[i].L3Connectivity {
				report.RemoteHosts[i].L3Connectivity[j].AverageRttMs = numbers[r.IntN(len(numbers))]
			}
		}
		packed := model.PackConnectivity(report)
		require.Equal(t, wire.Text(packed.Unpack()), connectivity(t, packed))
	}
	require.JSONEq(t, `{"remote_hosts":[]}`, connectivity(t, model.PackConnectivity(wire.ConnectivityReport{})))
}

func FuzzConnectivityTexts(f *testing.F) {
	f.Add([]byte{}, "eth0", 1.5)
	f.Add([]byte{1, 255, 255}, "\x00\"\\\u2028\xff<", math.Inf(1))
	f.Fuzz(func(t *testing.T, damaged []byte, name string, number float64) {
		if len(damaged) > 0 {
			connectivity(t, damaged) // any bytes end
		}
		if math.IsNaN(number) || math.IsInf(number, 0) {
			return // JSON has none, hence no report
		}
		packed := model.PackConnectivity(wire.ConnectivityReport{RemoteHosts: []wire.ConnectivityRemoteHost{{
			L3Connectivity: []wire.L3Connectivity{{OutgoingNic: name, AverageRttMs: number}},
		}}})
		require.JSONEq(t, wire.Text(packed.Unpack()), connectivity(t, packed))
	})
}
