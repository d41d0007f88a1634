package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"slipway/internal/wire"
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
	worst, err := a.host.DiskSpeed.SyncLatency(ctx, req.Path)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("measure %s: %w", req.Path, err)
	}
	output, err := json.Marshal(wire.DiskSpeedCheckResponse{Path: req.Path, IoSyncDuration: int(worst.Milliseconds())})
	return string(output), err
}
