package sim

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"slipway/internal/platform/hostexec"
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

// overwrite destroys the beginning of a disk; the beginning of a partition has no meaning here.
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

// findmnt shows a system that runs from memory.
func (s shell) findmnt(_ context.Context, c hostexec.Cmd, out *reply) int {
	if option(c.Args, "--target") != "" {
		return 1 // nothing is mounted there: the image was loaded whole
	}
	out.printf("TARGET SOURCE FSTYPE OPTIONS\n/      tmpfs  tmpfs  rw,relatime\n")
	return 0
}
