package installer

import (
	"fmt"
	"path"
	"slices"
)

// CleanAction is one command of a cleanup.
type CleanAction struct {
	// What is cleaned, for people: "volume group vg0".
	What string
	Argv []string
	// Fallback is tried when Argv fails.
	Fallback []string
}

// CleanPlan lists what has to be removed from a disk, in order, and what people should know.
type CleanPlan struct {
	Actions  []CleanAction
	Warnings []string
}

// PlanCleanup returns how to remove LVM, device mapper, RAID and signatures from a disk and from nothing else:
// devices are compared whole, /dev/sda never means /dev/sdaa. volumes lists the physical volumes of the whole
// host.
func PlanCleanup(disk Block, volumes []PhysicalVolume) CleanPlan {
	var plan CleanPlan
	plan.warnMounted(&disk)
	plan.removeVolumes(&disk, volumes)
	plan.removeMapped(&disk)
	plan.removeRAID(&disk)
	plan.wipe(&disk)
	return plan
}

func (p *CleanPlan) add(what string, argv ...string) {
	p.Actions = append(p.Actions, CleanAction{What: what, Argv: argv})
}

func (p *CleanPlan) warn(format string, args ...any) {
	p.Warnings = append(p.Warnings, fmt.Sprintf(format, args...))
}

func (p *CleanPlan) warnMounted(disk *Block) {
	disk.walk(func(b *Block) {
		if b.Mount != "" {
			p.warn("%s is mounted on %s", b.Name, b.Mount)
		}
	})
}

// removeVolumes removes the groups with a volume on the disk, then those volumes.
func (p *CleanPlan) removeVolumes(disk *Block, volumes []PhysicalVolume) {
	var mine, others []PhysicalVolume
	for _, v := range volumes {
		if onDisk(disk, v.Device) {
			mine = append(mine, v)
		} else {
			others = append(others, v)
		}
	}
	for n, v := range mine {
		if v.Group == "" || slices.ContainsFunc(mine[:n], v.sameGroup) {
			continue
		}
		target := []string{v.Group}
		for _, other := range slices.Concat(mine, others) {
			switch {
			case other.Group != v.Group:
			case !v.sameGroup(other):
				target = []string{"--select", "vg_uuid=" + v.GroupID} // LVM refuses a name of two groups
			case !onDisk(disk, other.Device):
				p.warn("volume group %s also had a volume on %s", v.Group, other.Device)
			}
		}
		p.add("volume group "+v.Group, append([]string{"vgremove", "--yes", "--force"}, target...)...)
	}
	for _, v := range mine {
		p.add("physical volume "+v.Device, "pvremove", "--yes", "--force", "--force", v.Device)
	}
}

func onDisk(disk *Block, device string) bool {
	found := false
	disk.walk(func(b *Block) { found = found || b.is(device) })
	return found
}

// PlanTeardown returns how to take apart what is stacked on a disk, volumes of LVM too, whoever holds them: a
// group cannot be removed while something uses its volumes.
func PlanTeardown(disk Block) CleanPlan {
	var plan CleanPlan
	disk.walk(func(b *Block) {
		switch {
		case b == &disk || b.partition():
		case b.mapped() || b.volume():
			plan.remove(b)
		case b.raid():
			plan.add("array "+b.Name, "mdadm", "--stop", b.Name)
		}
	})
	return plan
}

func (p *CleanPlan) remove(b *Block) {
	name := path.Base(b.Name)
	p.add("device "+name, "dmsetup", "remove", "--retry", name)
}

// removeMapped removes what device mapper stacked on the disk; LVM removed its own. A
// disk that is a multipath device stays, and so do its partitions: wiping it drops them.
func (p *CleanPlan) removeMapped(disk *Block) {
	disk.walk(func(b *Block) {
		ownPartition := b.partition() && disk.mapped()
		if b.mapped() && b != disk && !ownPartition {
			p.remove(b)
		}
	})
}

// removeRAID stops the arrays on the disk and removes the disk from them; the superblocks on other disks stay
// untouched.
func (p *CleanPlan) removeRAID(disk *Block) {
	disk.walk(func(b *Block) {
		if b.raid() && b != disk {
			p.add("array "+b.Name, "mdadm", "--stop", b.Name)
		}
	})
	disk.walk(func(b *Block) {
		if slices.ContainsFunc(b.Children, func(c Block) bool { return c.raid() }) {
			p.add("array member "+b.Name, "mdadm", "--zero-superblock", b.Name)
		}
	})
}

func (p *CleanPlan) wipe(disk *Block) {
	for _, b := range disk.Children {
		if b.partition() {
			p.add("signatures of "+b.Name, "wipefs", "--all", "--force", b.Name)
		}
	}
	p.Actions = append(p.Actions, CleanAction{
		What:     "signatures of " + disk.Name,
		Argv:     []string{"wipefs", "--all", "--force", disk.Name},
		Fallback: []string{"wipefs", "--all", disk.Name},
	})
}
