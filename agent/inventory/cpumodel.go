package inventory

import "strings"

// armModels are the processors of servers and edge machines by "implementer part" of
// /proc/cpuinfo, which on arm64 has numbers only; the names are those lscpu prints.
var armModels = map[string]string{
	"0x41 0xd03": "Cortex-A53", "0x41 0xd07": "Cortex-A57", "0x41 0xd08": "Cortex-A72", "0x41 0xd0b": "Cortex-A76",
	"0x41 0xd0c": "Neoverse-N1", "0x41 0xd40": "Neoverse-V1", "0x41 0xd42": "Cortex-A78AE", "0x41 0xd49": "Neoverse-N2",
	"0x41 0xd4f": "Neoverse-V2", "0x41 0xd84": "Neoverse-V3", "0x41 0xd8e": "Neoverse-N3",
	"0x43 0x0af": "ThunderX2-99xx", "0x48 0xd01": "TaiShan-v110", "0xc0 0xac3": "Ampere-1", "0xc0 0xac4": "Ampere-1a",
}

// cpuModel names a processor by the facts of /proc/cpuinfo.
func cpuModel(first map[string]string) string {
	if name := pick(first, modelKeys); name != "" {
		return name
	}
	if implementer := first["CPU implementer"]; implementer != "" {
		number := implementer + " " + first["CPU part"]
		if name := armModels[number]; name != "" {
			return name
		}
		return "ARM " + number
	}
	return machineType(first["processor 0"])
}

// machineType returns the model of a mainframe: "version = FF, identification = 1, machine = 8561".
func machineType(facts string) string {
	for fact := range strings.SplitSeq(facts, ",") {
		if key, value, _ := strings.Cut(fact, "="); strings.TrimSpace(key) == "machine" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
