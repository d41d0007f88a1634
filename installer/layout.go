package installer

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// Block is a block device and what is stacked on it, as lsblk reports it.
type Block struct {
	Name     string  `json:"name"`  // /dev/sda1, /dev/mapper/vg-root
	Kernel   string  `json:"kname"` // /dev/sda1, /dev/dm-3
	Type     string  `json:"type"`  // disk, part, lvm, crypt, mpath, raid1...
	Mount    string  `json:"mountpoint"`
	Children []Block `json:"children"`
}

// PhysicalVolume is an LVM volume on a block device; Group is empty when no group uses it.
type PhysicalVolume struct {
	Device string `json:"pv_name"`
	Group  string `json:"vg_name"`
	// GroupID distinguishes groups of one name: disks of two machines often have one each.
	GroupID string `json:"vg_uuid"`
}

// sameGroup reports whether two volumes are in one group; for programs that report no id the name decides.
func (v PhysicalVolume) sameGroup(other PhysicalVolume) bool {
	return v.Group == other.Group && (v.GroupID == "" || other.GroupID == "" || v.GroupID == other.GroupID)
}

// ParseBlocks parses the output of lsblk --json for one device.
func ParseBlocks(output string) (Block, error) {
	var decoded struct {
		Devices []Block `json:"blockdevices"`
	}
	if err := json.Unmarshal([]byte(output), &decoded); err != nil {
		return Block{}, fmt.Errorf("read the block devices: %w", err)
	}
	if len(decoded.Devices) != 1 {
		return Block{}, fmt.Errorf("require one block device, found %d", len(decoded.Devices))
	}
	return decoded.Devices[0], nil
}

// ParsePhysicalVolumes parses the output of pvs --reportformat json.
func ParsePhysicalVolumes(output string) ([]PhysicalVolume, error) {
	var decoded struct {
		Report []struct {
			Volumes []PhysicalVolume `json:"pv"`
		} `json:"report"`
	}
	if err := json.Unmarshal([]byte(output), &decoded); err != nil {
		return nil, fmt.Errorf("read the physical volumes: %w", err)
	}
	var volumes []PhysicalVolume
	for _, report := range decoded.Report {
		volumes = append(volumes, report.Volumes...)
	}
	return volumes, nil
}

// is reports whether a path names exactly this device.
func (b *Block) is(device string) bool { return device == b.Name || device == b.Kernel }

func (b *Block) partition() bool { return b.Type == "part" }
func (b *Block) raid() bool {
	return strings.HasPrefix(b.Type, "raid") || b.Type == "md" || b.Type == "linear"
}
func (b *Block) volume() bool { return b.Type == "lvm" }

// mapped reports whether device mapper made the device, other than for LVM: crypt, mpath... Partitions of
// multipath devices are mapped too.
func (b *Block) mapped() bool {
	return !b.volume() && strings.HasPrefix(path.Base(b.Kernel), "dm-")
}

// walk visits the device and all that is stacked on it, the deepest first, each once: a
// mirror stands below each of its members.
func (b *Block) walk(visit func(*Block)) {
	seen := map[string]bool{}
	var down func(*Block)
	down = func(at *Block) {
		for n := range at.Children {
			down(&at.Children[n])
		}
		if !seen[at.Kernel+at.Name] {
			seen[at.Kernel+at.Name] = true
			visit(at)
		}
	}
	down(b)
}
