package inventory

import (
	"context"
	"runtime"
	"strconv"
	"strings"

	"slipway/internal/wire"
)

// architectures are the names of the kernel for those of Go.
var architectures = map[string]string{"amd64": "x86_64", "arm64": "aarch64", "ppc64le": "ppc64le", "s390x": "s390x"}

// The names of the same fact in /proc/cpuinfo differ by architecture.
var (
	modelKeys = []string{"model name", "cpu", "cpu model", "vendor_id"}
	flagKeys  = []string{"flags", "Features", "features"}
	clockKeys = []string{"cpu MHz", "clock", "cpu MHz dynamic"}
)

func readCPU(_ context.Context, m Machine, into *wire.Inventory) {
	first := map[string]string{} // the first value of each key is that of the first processor
	count := 0
	for line := range strings.Lines(m.text("/proc/cpuinfo")) {
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
	if all, err := strconv.Atoi(first["# processors"]); err == nil {
		count = all // s390x
	}
	into.CPU = wire.CPU{
		Architecture: m.architecture(), Count: count, ModelName: pick(first, modelKeys),
		Flags: strings.Fields(pick(first, flagKeys)), Frequency: m.frequency(pick(first, clockKeys)),
	}
}

func (m Machine) architecture() string {
	if arch := m.text("/proc/sys/kernel/arch"); arch != "" {
		return arch
	}
	return architectures[runtime.GOARCH]
}

// frequency is the highest of the first processor in MHz, else the current one.
func (m Machine) frequency(now string) float32 {
	if kHz, err := strconv.ParseFloat(m.text("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"), 32); err == nil {
		return float32(kHz / 1000)
	}
	mHz, err := strconv.ParseFloat(strings.TrimSuffix(now, "MHz"), 32)
	if err != nil {
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
