package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"slipway/internal/wire"
)

// HostName returns the name of a host: the name a user set, its inventory's, or its id.
func HostName(h *wire.Host) string {
	if h.RequestedHostname != "" {
		return h.RequestedHostname
	}
	var inventory struct{ Hostname string }
	if json.Unmarshal([]byte(h.Inventory), &inventory) == nil && inventory.Hostname != "" {
		return inventory.Hostname
	}
	return h.ID.String()
}

// HostRole returns the role of a host, marked when it carries the bootstrap services. A suggested role is in
// brackets.
func HostRole(h *wire.Host) string {
	role := string(h.Role)
	if (h.Role == "" || h.Role == wire.HostRoleAutoAssign) && h.SuggestedRole != "" {
		role = "(" + string(h.SuggestedRole) + ")"
	}
	if h.Bootstrap {
		role += " *"
	}
	return role
}

// SortHosts orders hosts by role, then name: masters first.
func SortHosts(hosts []wire.Host) {
	slices.SortFunc(hosts, func(a, b wire.Host) int {
		return cmp.Or(cmp.Compare(rank(a.Role), rank(b.Role)), cmp.Compare(HostName(&a), HostName(&b)))
	})
}

func rank(role wire.HostRole) int {
	known := []wire.HostRole{wire.HostRoleMaster, wire.HostRoleArbiter, wire.HostRoleWorker}
	if n := slices.Index(known, role); n >= 0 {
		return n
	}
	return len(known)
}

// Hosts returns the table of hosts of an installation at an instant; ELAPSED is the time in the
// stage.
func Hosts(hosts []wire.Host, now time.Time) *Table {
	t := &Table{Header: []string{"HOST", "ROLE", "STATUS", "STAGE", "DONE", "ELAPSED", "INFO"}}
	hosts = slices.Clone(hosts)
	SortHosts(hosts)
	for n := range hosts {
		h := &hosts[n]
		p := h.Progress
		percent, info, elapsed := "", "", ""
		if p.CurrentStage != "" {
			percent, info = fmt.Sprintf("%d%%", p.InstallationPercentage), p.ProgressInfo
		}
		if h.Status != wire.HostStatusInstalled {
			elapsed = Since(p.StageStartedAt, now)
		}
		if decided(h.Status) || info == "" {
			info = OneLine(h.StatusInfo)
		}
		t.Add(HostName(h), HostRole(h), string(h.Status), string(p.CurrentStage), percent, elapsed, info)
	}
	return t
}

// OneLine makes one line of a service's text: of progress that a command printed over itself only the last is
// kept.
func OneLine(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n ")
		kept = append(kept, strings.TrimSpace(line[strings.LastIndex(line, "\r")+1:]))
	}
	return strings.Join(strings.Fields(strings.Join(kept, " ")), " ")
}

// decided reports whether the status is more informative than the progress.
func decided(status wire.HostStatus) bool {
	return slices.Contains([]wire.HostStatus{
		wire.HostStatusError, wire.HostStatusInstalled, wire.HostStatusInstallingPendingUserAction, wire.HostStatusDisconnected,
		wire.HostStatusInsufficient, wire.HostStatusCancelled,
	}, status)
}

// Since returns the time from an instant until now, in whole seconds; empty when it never was.
func Since(at wire.DateTime, now time.Time) string {
	if at.IsZero() {
		return ""
	}
	return Duration(now.Sub(at.Time()))
}

// Duration formats a duration in whole seconds: 1h2m3s.
func Duration(d time.Duration) string { return max(0, d.Round(time.Second)).String() }
