package inventory

import (
	"context"
	"fmt"
	"os"
	"strings"

	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// Machine is the source of an inventory.
type Machine struct {
	Root   hostexec.Root
	Runner hostexec.Runner
	Links  Links
	BMC    BMC    // nil: the machine has none
	Health Health // nil: no disk reports it
	// Unreadable, when set, gets the parts of an inventory that cannot be read, with the reason.
	Unreadable func(part string, reason error)
}

// readers fill their parts of an inventory, as far as they can read them. Later readers may read what earlier
// ones found: a host without a name is named after an interface.
var readers = []struct {
	part string
	read func(context.Context, Machine, *wire.Inventory) error
}{
	{"cpu", readCPU},
	{"memory", readMemory},
	{"system vendor", readSystemVendor},
	{"boot", readBoot},
	{"tpm", readTPM},
	{"gpus", readGPUs},
	{"interfaces", readInterfaces},
	{"routes", readRoutes},
	{"disks", readDisks},
	{"bmc", readBMC},
	{"hostname", readHostname},
}

// Collect takes the inventory. It never fails: what cannot be read stays empty, and Unreadable gets the reason.
func Collect(ctx context.Context, m Machine) *wire.Inventory {
	// Lists are never null: clients walk them without a look.
	inventory := &wire.Inventory{Disks: []wire.Disk{}, Gpus: []wire.Gpu{}, Interfaces: []wire.Interface{}, Routes: []wire.Route{}}
	for _, r := range readers {
		err := guarded(func() error { return r.read(ctx, m, inventory) })
		if err != nil && m.Unreadable != nil {
			m.Unreadable(r.part, err)
		}
	}
	return inventory
}

// guarded makes a panic an error: odd hardware, on which a library stumbles, does not hide the rest of the host.
func guarded(read func() error) (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("panic: %v", broken)
		}
	}()
	return read()
}

// text reads a file of the host without the space around it; empty when it cannot be read.
func (m Machine) text(path string) string {
	content, err := os.ReadFile(m.Root.Path(path))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

func (m Machine) exists(path string) bool {
	_, err := os.Stat(m.Root.Path(path))
	return err == nil
}

// list names the entries of a folder, sorted; nothing when it cannot be read.
func (m Machine) list(path string) []string {
	entries, err := os.ReadDir(m.Root.Path(path))
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// link reads the target of a symbolic link, as it is written; empty for other files.
func (m Machine) link(path string) string {
	target, err := os.Readlink(m.Root.Path(path))
	if err != nil {
		return ""
	}
	return target
}
