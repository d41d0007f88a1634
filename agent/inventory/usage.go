package inventory

import (
	"slices"
	"strings"
)

// mount is a mounted file system: its device, its place and its type.
type mount struct{ source, target, kind string }

// octal are the escapes of mount points in /proc/mounts.
var octal = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// mounts lists what is mounted for the first process of the host; the agent itself may see a
// container's mounts.
func (m Machine) mounts() []mount {
	text := m.text("/proc/1/mounts")
	if text == "" {
		text = m.text("/proc/mounts")
	}
	var mounts []mount
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) >= 3 {
			mounts = append(mounts, mount{octal.Replace(fields[0]), octal.Replace(fields[1]), fields[2]})
		}
	}
	return mounts
}

// mountedDevices maps the kernel's name of a device to the first file system of the host on it: a
// system shows the same one in many places.
func (m Machine) mountedDevices() map[string]mount {
	mapped := map[string]string{}
	for _, name := range m.list("/sys/block") {
		if alias := m.text("/sys/block/" + name + "/dm/name"); alias != "" {
			mapped["/dev/mapper/"+alias] = name
		}
	}
	first := map[string]mount{}
	for _, mount := range m.mounts() {
		if !strings.HasPrefix(mount.source, "/dev/") {
			continue
		}
		device := m.deviceOf(mount.source)
		if device == "" {
			device = mapped[mount.source]
		}
		if device == "" {
			device = kernelName(strings.TrimPrefix(mount.source, "/dev/"))
		}
		if _, seen := first[device]; !seen {
			first[device] = mount
		}
	}
	return first
}

// mountedFrom finds the first file system in use on a device or on what is built upon it: LVM
// volumes, RAID sets, maps of device mapper, and what is built upon those.
func (m Machine) mountedFrom(sys, name string, mounted map[string]mount) (mount, bool) {
	if found, is := mounted[name]; is {
		return found, true
	}
	queue := m.list(sys + "/holders")
	seen := slices.Clone(queue)
	for len(queue) > 0 {
		holder := queue[0]
		queue = queue[1:]
		if found, is := mounted[holder]; is {
			return found, true
		}
		for _, next := range m.upon(holder) {
			if !slices.Contains(seen, next) {
				seen, queue = append(seen, next), append(queue, next)
			}
		}
	}
	return mount{}, false
}

// upon lists the partitions of a device and what holds it or them.
func (m Machine) upon(name string) []string {
	sys := "/sys/block/" + name
	all := m.list(sys + "/holders")
	for _, entry := range m.list(sys) {
		if strings.HasPrefix(entry, name) {
			all = append(append(all, entry), m.list(sys+"/"+entry+"/holders")...)
		}
	}
	return all
}

// fileSystem returns the type of the file system udev found on a device; empty without one.
func (m Machine) fileSystem(sys string) string {
	const key = "E:ID_FS_TYPE="
	for line := range strings.Lines(m.text("/run/udev/data/b" + m.text(sys+"/dev"))) {
		if value, found := strings.CutPrefix(line, key); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
