package bench_test

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
	"slipway/internal/testing/isotest"
)

const (
	gigabyte = 1e9
	// connectionsToAPI stay open for the next questions, see client.Transport.
	connectionsToAPI = 8
)

// BenchmarkFullImage sends a full image of a live ISO of 1 GiB over loopback, to 1, 8, 32
// and 200 readers at once, beside a server that does nothing but sendfile(2) of the ISO. Both
// are asked in turn.
func BenchmarkFullImage(b *testing.B) {
	iso := isotest.Build(b, isotest.Options{RootfsSize: 1 << 30})
	bare, barePID := startBare(b, iso)
	s := newImageService(b, map[string]string{"4.22": iso})
	path := imagePath("4.22", "full.iso")
	sent, err := drain(s.address, path) // the config is fetched and laid over the ISO
	require.NoError(b, err)
	_, err = drain(bare, "/")
	require.NoError(b, err)
	size := float64(sent) / gigabyte
	b.Run("first-byte", func(b *testing.B) {
		for b.Loop() {
			var times []time.Duration
			for range 50 {
				times = append(times, firstByte(b, s.address, path))
			}
			b.ReportMetric(milliseconds(percentile(times, 50)), "ms-p50")
			b.ReportMetric(milliseconds(percentile(times, 99)), "ms-p99")
		}
		b.ReportMetric(0, "ns/op")
	})
	// More rounds where one takes less. Each is one of either kind, as the machine is not the
	// same for long: it is within a round that they are compared.
	for _, of := range []struct{ readers, rounds int }{{1, 41}, {8, 15}, {32, 9}, {200, 1}} {
		readers, rounds := of.readers, of.rounds
		b.Run(fmt.Sprintf("readers-%d", readers), func(b *testing.B) {
			for b.Loop() {
				idle := descriptors(b, s.pid())
				var list []round
				var most peak
				for range rounds {
					list = append(list, round{
						theirs: downloads(b, bare, "/", barePID, readers, nil),
						ours:   downloads(b, s.address, path, s.pid(), readers, func() { most.look(b, s) }),
					})
				}
				one := middle(list, round.ratio)
				b.ReportMetric(one.ours.cost()/size, "cpu-ms/GB")
				b.ReportMetric(one.theirs.cost()/size, "cpu-ms/GB-bare")
				b.ReportMetric(one.ratio(), "cpu-of-bare")
				b.ReportMetric(size*float64(readers)/one.ours.took.Seconds(), "GB/s")
				b.ReportMetric(most.memory, "MB-resident")
				b.ReportMetric(float64(most.files-idle), "files-more")
				await.True(b, func() bool { return descriptors(b, s.pid()) <= idle+connectionsToAPI }, "descriptors come back")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
	b.Run("head-and-range", func(b *testing.B) {
		for b.Loop() {
			configs, asked := s.api.counted()
			const requests = 200
			used := cpuTime(s.pid())
			for i := range requests / 2 {
				s.ask(http.MethodHead, path, http.StatusOK)
				s.ask(http.MethodGet, path, http.StatusPartialContent, "Range", fmt.Sprintf("bytes=%d-%d", i<<20, i<<20+4095))
			}
			used = cpuTime(s.pid()) - used
			again, now := s.api.counted()
			require.Equal(b, configs, again, "nothing changed")
			b.ReportMetric(float64(again-configs)/requests, "configs/request")
			b.ReportMetric(float64(now-asked)/requests, "questions/request")
			b.ReportMetric(microseconds(used/requests), "cpu-us/request")
		}
		b.ReportMetric(0, "ns/op")
	})
}

// round is one time of each kind.
type round struct{ ours, theirs download }

func (r round) ratio() float64 { return r.ours.cost() / r.theirs.cost() }

// download has the cost of some readers at once, each.
type download struct {
	used, took time.Duration
	readers    int
}

// cost returns the processor time for one reader, in milliseconds.
func (d download) cost() float64 { return milliseconds(d.used / time.Duration(d.readers)) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// downloads has readers read a file at once, and looks how the server is meanwhile.
func downloads(b *testing.B, address, path string, pid, readers int, look func()) download {
	b.Helper()
	failures := make([]error, readers)
	var group sync.WaitGroup
	before, begun := cpuTime(pid), time.Now()
	for i := range readers {
		group.Go(func() { _, failures[i] = drain(address, path) })
	}
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	for ticker := time.NewTicker(50 * time.Millisecond); ; {
		select {
		case <-done:
			ticker.Stop()
			out := download{cpuTime(pid) - before, time.Since(begun), readers}
			for _, err := range failures {
				require.NoError(b, err)
			}
			return out
		case <-ticker.C:
			if look != nil {
				look()
			}
		}
	}
}

// peak is the most that was seen.
type peak struct {
	memory float64 // MB
	files  int
}

func (p *peak) look(b *testing.B, s *imageService) {
	p.memory, p.files = max(p.memory, s.memoryMB()), max(p.files, descriptors(b, s.pid()))
}

// firstByte returns how long an answer takes to begin, with the connection.
func firstByte(b *testing.B, address, path string) time.Duration {
	b.Helper()
	begun := time.Now()
	conn, head, err := ask(address, path)
	took := time.Since(begun)
	require.NoError(b, err)
	require.NotEmpty(b, head)
	require.NoError(b, conn.Close())
	return took
}

// BenchmarkMinimalImage takes a live ISO of 1 GiB in use: its directory is read, the
// program that applies network settings is taken out of its root file system, and the
// minimal image is made.
func BenchmarkMinimalImage(b *testing.B) {
	rootfs := liveRootfs(b)
	isos := map[string]string{
		"4.20": isotest.Build(b, isotest.Options{RootfsSize: 1 << 30}),
		"4.22": isotest.Build(b, isotest.Options{RootfsFile: rootfs}),
	}
	for b.Loop() {
		for name, version := range map[string]string{"plain": "4.20", "network": "4.22"} {
			s := newImageService(b, isos)
			if name == "network" {
				s.api.network = []byte("ramdisk with network settings")
			}
			path := imagePath(version, "minimal.iso")
			info, err := os.Stat(isos[version])
			require.NoError(b, err)
			require.GreaterOrEqual(b, info.Size(), int64(1<<30))
			before, begun := cpuTime(s.pid()), time.Now()
			s.ask(http.MethodHead, path, http.StatusOK)
			first, took := cpuTime(s.pid())-before, time.Since(begun)
			b.ReportMetric(first.Seconds(), "cpu-s-first-"+name)
			b.ReportMetric(took.Seconds(), "s-first-"+name)
			if name == "network" {
				b.ReportMetric(s.memoryMB(), "MB-just-after-"+name) // what the collector has not seen yet is in it
			}
			before = cpuTime(s.pid())
			s.ask(http.MethodHead, imagePath(version, "minimal.iso"), http.StatusOK)
			b.ReportMetric(milliseconds(cpuTime(s.pid())-before), "cpu-ms-next-"+name)
		}
	}
	b.ReportMetric(0, "ns/op")
}
