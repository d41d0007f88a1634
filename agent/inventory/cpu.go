package inventory

import (
	"context"
	"runtime"
	"strconv"
	"strings"

	"slipway/internal/wire"
)

// architectures maps Go's names of architectures to the kernel's.
var architectures = map[string]string{"amd64": "x86_64", "arm64": "aarch64", "ppc64le": "ppc64le", "s390x": "s390x"}

// The names of the same fact in /proc/cpuinfo differ by architecture.
var (
	modelKeys = []string{"model name", "cpu", "cpu model"}
	flagKeys  = []string{"flags", "Features", "features"}
	clockKeys = []string{"cpu MHz", "clock", "cpu MHz static", "cpu MHz dynamic"}
)

// readCPU counts the processors that work, as /proc/cpuinfo lists them.
func readCPU(_ context.Context, m Machine, into *wire.Inventory) error {
	count, first := parseCPUInfo(m.text("/proc/cpuinfo"))
	into.CPU = wire.CPU{
		Architecture: m.architecture(), Count: count, ModelName: cpuModel(first),
		Flags: strings.Fields(pick(first, flagKeys)), Frequency: m.frequency(pick(first, clockKeys)),
	}
	return nil
}

// parseCPUInfo counts the processors and gives the first value of each key, which belongs to the
// first processor.
func parseCPUInfo(text string) (count int, first map[string]string) {
	first = map[string]string{}
	for line := range strings.Lines(text) {
		key, value, found := strings.Cut(line, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !found {
			continue
		}
		if key == "processor" {
			count++
		}
		if _, known := first[key]; !known {
			first[key] = value
		}
	}
	if all, err := strconv.Atoi(first["# processors"]); err == nil && all > 0 {
		count = all // s390x
	}
	return count, first
}

func (m Machine) architecture() string {
	if arch := m.text("/proc/sys/kernel/arch"); arch != "" {
		return arch
	}
	return architectures[runtime.GOARCH]
}

// frequency returns the highest frequency that any processor may reach in MHz, else the first one's
// current frequency: the cores of one chip may differ.
func (m Machine) frequency(now string) float32 {
	const cpus = "/sys/devices/system/cpu"
	highest := 0.0
	for _, name := range m.list(cpus) {
		if !strings.HasPrefix(name, "cpu") {
			continue
		}
		if kHz, err := strconv.ParseUint(m.text(cpus+"/"+name+"/cpufreq/cpuinfo_max_freq"), 10, 32); err == nil {
			highest = max(highest, float64(kHz)/1000)
		}
	}
	if highest > 0 {
		return float32(highest)
	}
	mHz, err := strconv.ParseFloat(strings.TrimSuffix(now, "MHz"), 32)
	if err != nil || !(mHz > 0 && mHz < 1e6) { // NaN and infinity parse too, and JSON has no word for them
		return 0
	}
	return float32(mHz)
}

func pick(values map[string]string, keys []string) string {
	for _, key := range keys {
		if value := values[key]; value != "" {
			return value
		}
	}
	return ""
}
