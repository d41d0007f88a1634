package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"slipway/agent/inventory"
	"slipway/internal/wire"
)

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
