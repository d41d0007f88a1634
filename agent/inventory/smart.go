package inventory

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// smartWait is for one disk: a dying one may not answer at all.
const smartWait = 10 * time.Second

// readSMART adds what disks with a controller of their own say of their health. Only the
// verdict is kept: temperatures and hours would make every inventory differ from the last.
func (m Machine) readSMART(ctx context.Context, disks []wire.Disk) {
	for n := range disks {
		if !keepsHealth(&disks[n]) {
			continue
		}
		output, missing := m.smartctl(ctx, disks[n].Path)
		if missing || ctx.Err() != nil {
			return
		}
		disks[n].Smart = smartVerdict(output)
	}
}

// keepsHealth leaves out what has no SMART data: virtual disks, volumes, disks of a network.
func keepsHealth(disk *wire.Disk) bool {
	local := disk.DriveType == wire.DriveTypeHDD || disk.DriveType == wire.DriveTypeSSD
	return local && (strings.HasPrefix(disk.Name, "sd") || strings.HasPrefix(disk.Name, "nvme"))
}

// smartctl leaves sleeping disks asleep. Its exit code is a set of flags, a disk that
// fails sets some: what it printed counts.
func (m Machine) smartctl(ctx context.Context, path string) (output string, missing bool) {
	ctx, cancel := context.WithTimeout(ctx, smartWait)
	defer cancel()
	result, err := m.Runner.Run(ctx, hostexec.Cmd{Name: "smartctl", Args: []string{"--json=c", "--nocheck=standby", "--health", path}})
	return result.Stdout, hostexec.Missing(err)
}

// smartVerdict is smart_status of smartctl's answer, as JSON: {"passed":true}.
func smartVerdict(output string) string {
	var report struct {
		Status *struct {
			Passed bool            `json:"passed"`
			NVMe   json.RawMessage `json:"nvme,omitempty"` // which of the critical warnings are set
		} `json:"smart_status"`
	}
	if json.Unmarshal([]byte(output), &report) != nil || report.Status == nil {
		return ""
	}
	text, err := json.Marshal(report.Status)
	if err != nil {
		return ""
	}
	return string(text)
}
