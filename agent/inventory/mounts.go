package inventory

import "strings"

// mount is a mounted file system: its device, its place and its type.
type mount struct{ source, target, kind string }

// octal are the escapes of mount points in /proc/mounts.
var octal = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// mounts lists what is mounted for the first process of the host; the agent's own view
// may be that of a container.
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
