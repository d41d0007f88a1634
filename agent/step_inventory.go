package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"

	"slipway/agent/inventory"
	"slipway/internal/wire"
)

// logUnreadable logs each part of the inventory that cannot be read: once, and again when the reason is another one.
func logUnreadable(log *slog.Logger) func(part string, reason error) {
	var mu sync.Mutex
	logged := map[string]string{}
	return func(part string, reason error) {
		mu.Lock()
		defer mu.Unlock()
		if text := reason.Error(); logged[part] != text {
			logged[part] = text
			log.Warn("part of the inventory cannot be read", "part", part, "error", reason)
		}
	}
}

// diskMinSize is an optional argument of inventory, in bytes: smaller disks are left out.
const diskMinSize = "--disk-min-size="

// inventory takes the host id, which it does not need, and options.
func (a *Agent) inventory(ctx context.Context, args []string) (string, error) {
	found := inventory.Collect(ctx, a.machine)
	for _, arg := range args {
		if text, is := strings.CutPrefix(arg, diskMinSize); is {
			least, err := strconv.Atoi(text)
			if err != nil {
				return "", fmt.Errorf("read %s: %w", arg, err)
			}
			found.Disks = slices.DeleteFunc(found.Disks, func(d wire.Disk) bool { return d.SizeBytes < least })
		}
	}
	output, err := json.Marshal(found)
	if err != nil {
		return "", fmt.Errorf("write the inventory: %w", err)
	}
	return string(output), ctx.Err()
}
