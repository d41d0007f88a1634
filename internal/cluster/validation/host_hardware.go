package validation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"slipway/internal/cluster/openshift"
	"slipway/internal/wire"
)

const (
	mib = int64(1) << 20
	gb  = int64(1_000_000_000)
	// memoryTolerance is the memory that firmware may keep for itself.
	memoryTolerance = 100 * mib
	// meminfoTolerancePercent is the share that the kernel keeps out of /proc/meminfo besides.
	meminfoTolerancePercent = 2
	missingInventory        = "The host has not sent its inventory yet"
)

func hasInventory(c *hostCase) verdict {
	if c.Host.Inventory == nil {
		return pending(missingInventory)
	}
	if c.inv == nil {
		return failure(
			"Require an inventory with CPU and memory, found %d CPUs and %d bytes",
			c.Host.Inventory.CPU.Count,
			c.Host.Inventory.Memory.PhysicalBytes,
		)
	}
	return success("The host sent its inventory")
}

func notPartiallyTruncated(c *hostCase) verdict {
	return truncation(c, wire.InventoryTruncationTypePartial, "some of it was left out")
}

func notFullyTruncated(c *hostCase) verdict {
	return truncation(c, wire.InventoryTruncationTypeFull, "all but the basics was left out")
}

func truncation(c *hostCase, kind wire.InventoryTruncationType, what string) verdict {
	if c.Host.Inventory == nil {
		return pending(missingInventory)
	}
	if t := c.Host.Inventory.Truncation; t.Type == kind {
		return failure("Require a whole inventory, %s: %s", what, strings.Join(t.Reasons, "; "))
	}
	return success("The inventory is not cut that way")
}

func minCPU(c *hostCase) verdict {
	return atLeastCPU(c, min(c.Requirements.Master.CPUCores, c.Requirements.Worker.CPUCores), "any role")
}

func roleCPU(c *hostCase) verdict {
	return atLeastCPU(c, c.req.CPUCores, "the role "+string(c.role))
}

func atLeastCPU(c *hostCase, required int, role string) verdict {
	if c.inv == nil {
		return pending(missingInventory)
	}
	if found := c.inv.CPU.Count; found < required {
		return failure("Require at least %d CPU cores for %s, found %d", required, role, found)
	}
	return success("Found %d CPU cores, enough for %s", c.inv.CPU.Count, role)
}

func minMemory(c *hostCase) verdict {
	if c.inv == nil {
		return pending(missingInventory)
	}
	required := min(c.Requirements.Master.RAMMiB, c.Requirements.Worker.RAMMiB) * mib
	limit := required - memoryTolerance
	if c.inv.Memory.PhysicalBytesMethod == wire.Meminfo {
		limit -= required * meminfoTolerancePercent / 100
	}
	return atLeastMemory(c, required, limit, "any role")
}

func roleMemory(c *hostCase) verdict {
	if c.inv == nil {
		return pending(missingInventory)
	}
	required := c.req.RAMMiB * mib
	return atLeastMemory(c, required, required-memoryTolerance, "the role "+string(c.role))
}

func atLeastMemory(c *hostCase, required, limit int64, role string) verdict {
	found := int64(c.inv.Memory.PhysicalBytes)
	if found < limit {
		return failure("Require at least %s of memory for %s, found %s", bytesText(required), role, bytesText(found))
	}
	return success("Found %s of memory, enough for %s", bytesText(found), role)
}

// bytesText writes memory in the unit of the requirements: rounded to GiB, 15.6 found of 16 required would read
// the same.
func bytesText(n int64) string { return fmt.Sprintf("%d MiB", n/mib) }

// hostnamePattern is a DNS name of labels up to 63 characters
// (docs/reference/validation-rules.md, "Host names").
var hostnamePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}(?:[.][a-z0-9-]{1,63})*$`)

var forbiddenHostnames = openshift.ForbiddenHostnames()

// CheckHostname returns why a name cannot be the name of a host; nil when it can.
func CheckHostname(name string) error {
	if slices.Contains(forbiddenHostnames, name) {
		return fmt.Errorf("require a name of its own, found %q", name)
	}
	if !hostnamePattern.MatchString(name) {
		return fmt.Errorf("require lower case letters, digits, hyphens and dots, found %q", name)
	}
	return nil
}

func hostnameValid(c *hostCase) verdict {
	if c.inv == nil {
		return pending(missingInventory)
	}
	if err := CheckHostname(c.Host.Hostname()); err != nil {
		return failure("Hostname: %v", err)
	}
	return success("The hostname %s is valid", c.Host.Hostname())
}

func hostnameUnique(c *hostCase) verdict {
	if c.inv == nil {
		return pending(missingInventory)
	}
	name := c.Host.Hostname()
	if n := c.Peers.names[name]; n > 1 {
		return failure("Require a hostname of its own, %s is the name of %d hosts", name, n)
	}
	return success("The hostname %s is unique in the cluster", name)
}

func platformSupported(c *hostCase) verdict {
	if c.inv == nil {
		return pending(missingInventory)
	}
	p := c.Cluster.Platform
	rule, ok := platformMachines[p.Type]
	if !ok || rule.matches(p, c.inv.SystemVendor) {
		return success("The machine fits the platform %s", platformName(p))
	}
	return failure(
		"Require a machine made by %s for the platform %s, found %s",
		rule.maker,
		platformName(p),
		orUnknown(c.inv.SystemVendor.Manufacturer),
	)
}

func orUnknown(text string) string {
	if text == "" {
		return "an unknown maker"
	}
	return text
}
