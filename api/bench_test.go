package api_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/testing/httpclient"
	"slipway/internal/wire"
)

// fill registers hosts until an InfraEnv has n of them, and returns the ids of the new ones.
func (s *service) fill(infraEnvID uuid.UUID, n int) []uuid.UUID {
	s.t.Helper()
	ids := make([]uuid.UUID, n)
	for i := range ids {
		ids[i] = uuid.New()
		s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs/"+infraEnvID.String()+"/hosts", map[string]any{"host_id": ids[i]})
	}
	return ids
}

// BenchmarkListHosts streams the hosts of a cluster with inventories of an ordinary
// server: the cost of a host and what the service allocates for it stay the same
// however long the list is.
func BenchmarkListHosts(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("hosts=%d", n), func(b *testing.B) {
			s := newService(b)
			e := s.infraEnv(s.cluster(nil).ID)
			for _, id := range s.fill(e.ID, n) {
				s.changeHost(e.ID, id, func(h *model.Host) { h.Inventory = serverInventory() })
			}
			b.ReportAllocs()
			var size int64
			for b.Loop() {
				size = s.drain("/v2/infra-envs/" + e.ID.String() + "/hosts")
			}
			b.SetBytes(size)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/host")
		})
	}
}

// drain reads an answer without keeping it and returns its size.
func (s *service) drain(path string) int64 {
	s.t.Helper()
	response, err := httpclient.New(s.t).Get(s.url + base + path)
	require.NoError(s.t, err)
	defer response.Body.Close()
	size, err := io.Copy(io.Discard, response.Body)
	require.NoError(s.t, err)
	return size
}

func serverInventory() *wire.Inventory {
	inventory := &wire.Inventory{
		Hostname: "node.example.com", CPU: wire.CPU{Count: 64, Architecture: "x86_64", Flags: make([]string, 120)},
		Memory: wire.Memory{PhysicalBytes: 256 << 30},
	}
	for i := range inventory.CPU.Flags {
		inventory.CPU.Flags[i] = fmt.Sprintf("flag_%d", i)
	}
	for i := range 12 {
		inventory.Disks = append(inventory.Disks, disk(fmt.Sprintf("wwn-0x5000c500%08x", i), fmt.Sprintf("sd%c", 'a'+i), false))
	}
	for i := range 8 {
		inventory.Interfaces = append(inventory.Interfaces, wire.Interface{
			Name: fmt.Sprintf("ens%df0", i), MacAddress: fmt.Sprintf("52:54:00:00:00:%02x", i), Mtu: 1500,
			Ipv4Addresses: []string{fmt.Sprintf("192.0.2.%d/24", i+10)}, Flags: []string{"up", "broadcast", "multicast"},
		})
	}
	return inventory
}

// BenchmarkDeregisterHosts removes hosts of a cluster of 10 and of one of 1000; the ratio of their costs shows what a large cluster
// adds.
func BenchmarkDeregisterHosts(b *testing.B) {
	benchmarkFlat(b, func(s *service, infraEnvID uuid.UUID, ids []uuid.UUID) {
		for _, id := range ids {
			s.want(http.StatusNoContent, http.MethodDelete, hostPath(infraEnvID, id), nil)
		}
	}, true)
}

// BenchmarkRegisterHosts does the same for hosts that join.
func BenchmarkRegisterHosts(b *testing.B) {
	benchmarkFlat(b, func(s *service, infraEnvID uuid.UUID, ids []uuid.UUID) {
		for _, id := range ids {
			s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs/"+infraEnvID.String()+"/hosts", map[string]any{"host_id": id})
		}
	}, false)
}

// benchmarkFlat measures calls for the hosts of a small and a large cluster, in turns,
// and reports the cost of a call in each and their ratio.
func benchmarkFlat(b *testing.B, calls func(s *service, infraEnvID uuid.UUID, ids []uuid.UUID), joined bool) {
	const small, large, turn = 10, 1000, 10
	s := newService(b)
	var took [2]time.Duration
	var envs [2]wire.InfraEnv
	for i, n := range []int{small, large} {
		envs[i] = s.infraEnv(s.cluster(map[string]any{"name": fmt.Sprintf("c%d", n)}).ID)
		s.fill(envs[i].ID, n-turn)
	}
	for b.Loop() {
		for i := range envs {
			ids := newIDs(turn)
			if joined {
				ids = s.fill(envs[i].ID, turn)
			}
			start := time.Now()
			calls(s, envs[i].ID, ids)
			took[i] += time.Since(start)
			if !joined {
				for _, id := range ids {
					s.want(http.StatusNoContent, http.MethodDelete, hostPath(envs[i].ID, id), nil)
				}
			}
		}
	}
	per := func(i int) float64 { return float64(took[i].Nanoseconds()) / float64(b.N*turn) }
	b.ReportMetric(per(0), "ns/host-of-10")
	b.ReportMetric(per(1), "ns/host-of-1000")
	b.ReportMetric(per(1)/per(0), "ratio")
}

func newIDs(n int) []uuid.UUID {
	ids := make([]uuid.UUID, n)
	for i := range ids {
		ids[i] = uuid.New()
	}
	return ids
}
