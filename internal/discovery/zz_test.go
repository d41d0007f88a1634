package discovery_test

import (
	"context"
	"fmt"
	"os"
	"runtime/pprof"
	"sync"
	"syscall"
	"testing"
	"time"

	"slipway/internal/discovery"
)

func selfCPU() time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func BenchmarkHeld(b *testing.B) {
	l := newLab(b, func(o *discovery.Options) {})
	machines := l.settled(b, 1000)
	l.run(b)
	time.Sleep(11 * time.Second)
	s0, t0 := selfCPU(), time.Now()
	time.Sleep(20 * time.Second)
	fmt.Printf("idle self %.2f%%\n", 100*(selfCPU()-s0).Seconds()/time.Since(t0).Seconds())
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for i, m := range machines {
		wg.Go(func() {
			time.Sleep(time.Duration(i) * 30 * time.Millisecond)
			for ctx.Err() == nil {
				l.service.NextSteps(ctx, m.pollInput(30 * time.Second))
			}
		})
	}
	time.Sleep(31 * time.Second)
	f, _ := os.Create("/tmp/held.cpu")
	s0, t0 = selfCPU(), time.Now()
	pprof.StartCPUProfile(f)
	time.Sleep(60 * time.Second)
	pprof.StopCPUProfile()
	fmt.Printf("self %.2f%%\n", 100*(selfCPU()-s0).Seconds()/time.Since(t0).Seconds())
	cancel()
	wg.Wait()
}
