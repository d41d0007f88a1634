package inventory

import "strings"

// mount is a mounted file system.
type mount struct{ source, target string }

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
		if fields := strings.Fields(line); len(fields) >= 2 {
			mounts = append(mounts, mount{fields[0], octal.Replace(fields[1])})
		}
	}
	return mounts
}
