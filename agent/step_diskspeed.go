package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// The load of docs/reference/agent-protocol.md, "Disk speed": what etcd does to a disk.
const (
	speedJobs  = 2
	speedBytes = 22 << 20
	speedBlock = 2300
)

// diskSpeedCheck measures how long the disk takes to have a small write on stable
// storage: the 99th percentile of the slower of two writers, in milliseconds. It
// overwrites the beginning of the disk. Its arguments are the request and a limit in
// seconds.
func (a *Agent) diskSpeedCheck(ctx context.Context, args []string) (string, error) {
	if len(args) != 2 {
		return "", fmt.Errorf("require 2 arguments, found %d", len(args))
	}
	req, err := argument[wire.DiskSpeedCheckRequest](args[:1])
	if err != nil {
		return "", err
	}
	seconds, err := strconv.ParseFloat(args[1], 64)
	if err != nil {
		return "", fmt.Errorf("read the limit: %w", err)
	}
	limit := time.Duration(seconds * float64(time.Second))
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTimedOut{limit})
	defer cancel()
	worst, err := a.syncLatency(ctx, req.Path)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("measure %s: %w", req.Path, err)
	}
	output, err := json.Marshal(wire.DiskSpeedCheckResponse{Path: req.Path, IoSyncDuration: int(worst.Milliseconds())})
	return string(output), err
}

// syncLatency runs the writers at the same time and returns the worst of them.
func (a *Agent) syncLatency(ctx context.Context, path string) (time.Duration, error) {
	// fio would make a file of a disk that is away, and later steps would take it for one.
	if _, err := os.Stat(a.host.Root.Path(path)); err != nil {
		return 0, err
	}
	results := make([]time.Duration, speedJobs)
	group, ctx := errgroup.WithContext(ctx)
	for n := range results {
		group.Go(func() error {
			latency, err := a.fio(ctx, path)
			if hostexec.Missing(err) {
				latency, err = a.writeSynced(ctx, path)
			}
			results[n] = latency
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	return slices.Max(results), nil
}

func (a *Agent) fio(ctx context.Context, path string) (time.Duration, error) {
	result, err := a.host.Runner.Run(ctx, hostexec.Cmd{Name: "fio", Args: []string{
		"--filename", strings.ReplaceAll(path, ":", `\:`), "--name=test", "--rw=write", "--ioengine=sync",
		"--size=22m", "-bs=" + strconv.Itoa(speedBlock), "--fdatasync=1", "--output-format=json",
	}})
	if err != nil {
		return 0, err
	}
	var report struct {
		Jobs []struct {
			Sync struct {
				Latency struct {
					Percentile map[string]int64 `json:"percentile"`
				} `json:"lat_ns"`
			} `json:"sync"`
		} `json:"jobs"`
	}
	// Warnings of fio may stand before its JSON.
	text := result.Stdout[max(0, strings.IndexByte(result.Stdout, '{')):]
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		return 0, fmt.Errorf("read the report of fio: %w", err)
	}
	for _, job := range report.Jobs {
		if latency, measured := job.Sync.Latency.Percentile["99.000000"]; measured {
			return time.Duration(latency), nil
		}
	}
	return 0, fmt.Errorf("read the report of fio: no 99th percentile")
}

// writeSynced is the same load without fio, which live images do not carry.
func (a *Agent) writeSynced(ctx context.Context, path string) (time.Duration, error) {
	file, err := os.OpenFile(a.host.Root.Path(path), os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	block := make([]byte, speedBlock)
	latencies := make([]time.Duration, 0, speedBytes/speedBlock)
	for offset := int64(0); offset+speedBlock <= speedBytes; offset += speedBlock {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if _, err := file.WriteAt(block, offset); err != nil {
			return 0, err
		}
		begin := a.host.Now()
		if err := datasync(file); err != nil {
			return 0, err
		}
		latencies = append(latencies, a.host.Now().Sub(begin))
	}
	slices.Sort(latencies)
	return latencies[len(latencies)*99/100], nil
}

// datasync waits until the content of a file is on stable storage.
func datasync(file *os.File) error {
	for {
		err := syscall.Fdatasync(int(file.Fd()))
		if err != syscall.EINTR {
			return err
		}
	}
}
