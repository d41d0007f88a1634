package sim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"slipway/internal/cluster/steps"
	"slipway/internal/wire"
)

// Faults lists the failures of a machine.
type Faults struct {
	// Fail makes the first attempts of a step fail: step to how many.
	Fail map[string]int `json:"fail,omitempty"`
	// Cut pulls the cable for that long (real time) when CutAt, a step, is received.
	Cut   time.Duration `json:"cut,omitempty"`
	CutAt string        `json:"cut_at,omitempty"`
	// SlowDisk makes the disks slower than the contract asks and writing take longer.
	SlowDisk bool `json:"slow_disk,omitempty"`
	// BootLive boots the live image that many times although the disk is installed.
	BootLive int `json:"boot_live,omitempty"`
	// Loss is the part of packets to the machine that is lost, in percent.
	Loss int `json:"loss,omitempty"`
	// DuplicateIP lets another machine, an unknown one, answer for the addresses too.
	DuplicateIP bool `json:"duplicate_ip,omitempty"`
}

// failing are the steps that can be made to fail and what fails then.
var failing = map[string]string{
	string(wire.StepTypeInstallationDiskSpeedCheck): "the disk test",
	string(wire.StepTypeContainerImageAvailability): "podman pull",
	string(steps.BootstrapStart):                    "systemctl start",
	string(steps.IgnitionFetch):                     "the download",
	string(steps.ImageWrite):                        "coreos-installer",
}

// DefaultCut is how long a cable is pulled when nothing is said.
const DefaultCut = 20 * time.Second

// ParseFail reads HOST:STEP[:TIMES].
func ParseFail(text string) (host, step string, times int, err error) {
	parts := strings.Split(text, ":")
	if len(parts) < 2 || len(parts) > 3 || parts[0] == "" {
		return "", "", 0, fmt.Errorf("require HOST:STEP or HOST:STEP:TIMES, found %q", text)
	}
	if _, known := failing[parts[1]]; !known {
		return "", "", 0, fmt.Errorf("step %q cannot be made to fail; these can: %s", parts[1],
			strings.Join(slices.Sorted(maps.Keys(failing)), ", "))
	}
	times = 1
	if len(parts) == 3 {
		if times, err = strconv.Atoi(parts[2]); err != nil || times < 1 {
			return "", "", 0, fmt.Errorf("require a number of times above zero, found %q", parts[2])
		}
	}
	return parts[0], parts[1], times, nil
}

// ParseCut reads HOST[:DURATION[:STEP]]; the step, by default image-write, is the one
// during which the cable is pulled.
func ParseCut(text string) (host string, d time.Duration, step string, err error) {
	parts := strings.SplitN(text, ":", 3)
	host, d, step = parts[0], DefaultCut, string(steps.ImageWrite)
	if host == "" {
		return "", 0, "", fmt.Errorf("require HOST, HOST:DURATION or HOST:DURATION:STEP, found %q", text)
	}
	if len(parts) > 1 {
		if d, err = time.ParseDuration(parts[1]); err != nil || d <= 0 {
			return "", 0, "", fmt.Errorf("require a duration such as 30s, found %q", parts[1])
		}
	}
	if len(parts) == 3 {
		step = parts[2]
	}
	return host, d, step, nil
}
