package installer

import (
	"regexp"
	"strings"
)

// BootEntry is an entry of the firmware's list of what it can start.
type BootEntry struct {
	Number string // four hexadecimal digits
	Label  string
	// PartitionNumber is its place in the partition table, as the entry has it.
	PartitionNumber string
	// Partition is the GPT id of the partition that it starts from, in lower case; empty for
	// entries without one.
	Partition string
	Loader    string // \EFI\redhat\shimx64.efi
}

// Lines of efibootmgr -v, older ones with File(...) around the path of the loader:
//
//	Boot0003* Red Hat Enterprise Linux	HD(2,GPT,6a5c1a0c-...,0x1000,0x10000)/File(\EFI\redhat\shimx64.efi)
var (
	bootEntry     = regexp.MustCompile(`^Boot([0-9A-Fa-f]{4})[* ] ([^\t]*)\t?(.*)$`)
	bootPartition = regexp.MustCompile(`HD\((\d+),GPT,([0-9A-Fa-f-]+)`)
	bootLoader    = regexp.MustCompile(`/(?:File\()?(\\[^)\s]+)`)
)

// ParseBootEntries reads the answer of efibootmgr -v.
func ParseBootEntries(output string) []BootEntry {
	var entries []BootEntry
	for line := range strings.Lines(output) {
		found := bootEntry.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if found == nil {
			continue
		}
		entry := BootEntry{Number: found[1], Label: strings.TrimSpace(found[2])}
		if partition := bootPartition.FindStringSubmatch(found[3]); partition != nil {
			entry.PartitionNumber, entry.Partition = partition[1], strings.ToLower(partition[2])
		}
		if loader := bootLoader.FindStringSubmatch(found[3]); loader != nil {
			entry.Loader = loader[1]
		}
		entries = append(entries, entry)
	}
	return entries
}
