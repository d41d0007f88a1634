package sim

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

type lsblkDevice struct {
	Name       string        `json:"name"`
	Kernel     string        `json:"kname"`
	Type       string        `json:"type"`
	MountPoint *string       `json:"mountpoint"`
	Children   []lsblkDevice `json:"children,omitempty"`
}

// lsblk knows the disks and, on one that was written, the four partitions of CoreOS.
func (s shell) lsblk(_ context.Context, c hostexec.Cmd, out *reply) int {
	var devices []lsblkDevice
	for _, d := range s.options.Spec.Disks {
		device := lsblkDevice{Name: "/dev/" + d.Name, Kernel: "/dev/" + d.Name, Type: "disk"}
		if content, err := ReadDisk(s.options.Root, d.Name); err == nil && content != nil {
			for _, number := range []string{"1", "2", "3", "4"} {
				device.Children = append(device.Children,
					lsblkDevice{Name: device.Name + number, Kernel: device.Name + number, Type: "part"})
			}
		}
		if target := last(c.Args); !strings.HasPrefix(target, "/dev/") || target == device.Name {
			devices = append(devices, device)
		}
	}
	if len(devices) == 0 {
		return out.complain(32, "lsblk: %s: not a block device\n", last(c.Args))
	}
	if !slices.Contains(c.Args, "--json") {
		for _, d := range devices {
			out.printf("%s disk\n", d.Name)
		}
		return 0
	}
	text, err := json.MarshalIndent(map[string]any{"blockdevices": devices}, "", "   ")
	if err != nil {
		return out.complain(1, "%s\n", err)
	}
	out.printf("%s\n", text)
	return 0
}

// pvs finds no physical volumes.
func (s shell) pvs(_ context.Context, c hostexec.Cmd, out *reply) int {
	if option(c.Args, "--reportformat") == "json" {
		out.printf("  {\n      \"report\": [\n          {\n              \"pv\": [\n              ]\n          }\n      ]\n  }\n")
	}
	return 0
}

func (s shell) wipefs(_ context.Context, c hostexec.Cmd, out *reply) int {
	return s.overwrite(last(c.Args), out)
}

func (s shell) dd(_ context.Context, c hostexec.Cmd, out *reply) int {
	for _, a := range c.Args {
		if device, found := strings.CutPrefix(a, "of="); found {
			return s.overwrite(device, out)
		}
	}
	return out.complain(1, "dd: require of=\n")
}

// overwrite destroys the beginning of a disk; that of a partition says nothing here.
func (s shell) overwrite(device string, out *reply) int {
	disk, known := s.options.Spec.Disk(device)
	if !known {
		if _, ofKnown := s.options.Spec.Disk(strings.TrimRight(device, "0123456789")); ofKnown {
			return 0
		}
		return out.complain(1, "%s: No such file or directory\n", device)
	}
	if err := wipeDisk(s.options.Root, disk.Name); err != nil {
		return out.complain(1, "%s\n", err)
	}
	return 0
}

const (
	// usualSync and slowSync are 99th percentiles of a synced write, in nanoseconds; the
	// contract asks for 10 ms at most.
	usualSync = 2_400_000
	slowSync  = 38_000_000
)

// fio answers a test of synced writes.
func (s shell) fio(ctx context.Context, c hostexec.Cmd, out *reply) int {
	s.spend(ctx, s.times.DiskTest)
	if s.fails(string(wire.StepTypeInstallationDiskSpeedCheck)) {
		return out.complain(1, "fio: io_u error on file %s: Input/output error: write\n", option(c.Args, "--filename"))
	}
	latency := usualSync
	if s.options.Faults.SlowDisk {
		latency = slowSync
	}
	percentiles := map[string]int{"50.000000": latency / 4, "90.000000": latency / 2, "99.000000": latency, "99.900000": latency * 2}
	text, err := json.MarshalIndent(map[string]any{
		"fio version": "fio-3.35",
		"jobs": []any{map[string]any{"jobname": "test", "error": 0, "sync": map[string]any{
			"total_ios": 10028,
			"lat_ns":    map[string]any{"min": latency / 8, "max": latency * 3, "mean": latency / 3, "N": 10028, "percentile": percentiles},
		}}},
	}, "", "  ")
	if err != nil {
		return out.complain(1, "%s\n", err)
	}
	out.printf("%s\n", text)
	return 0
}

// findmnt shows a system that runs from memory.
func (s shell) findmnt(_ context.Context, c hostexec.Cmd, out *reply) int {
	if option(c.Args, "--target") != "" {
		return 1 // nothing is mounted there: the image was loaded whole
	}
	out.printf("TARGET SOURCE FSTYPE OPTIONS\n/      tmpfs  tmpfs  rw,relatime\n")
	return 0
}
