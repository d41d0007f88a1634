package inventory

import "strings"

const byPath = "/dev/disk/by-path/"

// aliases maps devices to the links in a folder of /dev/disk that lead to them.
func (m Machine) aliases(folder string) map[string][]string {
	all := map[string][]string{}
	for _, name := range m.list(folder) {
		if device := m.deviceOf(folder + "/" + name); device != "" {
			all[device] = append(all[device], folder+"/"+name)
		}
	}
	return all
}

// deviceOf returns the name the kernel has for what a link below /dev leads to: ../../sda is sda,
// ../../cciss/c0d0 is cciss!c0d0. Empty when it is no link.
func (m Machine) deviceOf(path string) string {
	target := m.link(path)
	for strings.HasPrefix(target, "../") {
		target = target[len("../"):]
	}
	return kernelName(strings.TrimPrefix(target, "/dev/"))
}

// kernelName returns the name in /sys/block of a name below /dev.
func kernelName(name string) string { return strings.ReplaceAll(name, "/", "!") }

// preferredID returns the most lasting of the names of a disk: its world wide name.
func preferredID(names []string) string {
	for _, prefix := range []string{"wwn-", "nvme-eui.", "dm-uuid-mpath-", "scsi-"} {
		for _, name := range names {
			if strings.HasPrefix(name[strings.LastIndex(name, "/")+1:], prefix) {
				return name
			}
		}
	}
	return first(names)
}

// preferredPath returns the link that udev itself names the place of a disk by, where it leads to
// this disk: an optical drive and a disk of an old controller may share a place.
func preferredPath(links []string, busPath string) string {
	for _, link := range links {
		if link == byPath+busPath {
			return link
		}
	}
	return first(links)
}

// first returns the first text that says something.
func first(texts []string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// known drops the text that ghw has for an unknown value.
func known(text string) string {
	if text == "unknown" {
		return ""
	}
	return text
}
