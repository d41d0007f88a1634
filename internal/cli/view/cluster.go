package view

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"slipway/internal/wire"
)

// Headline returns a cluster in one line: its status, its progress and what it waits for.
func Headline(c *wire.Cluster) string {
	line := fmt.Sprintf("cluster %s: %s", c.Name, c.Status)
	if p := c.Progress.TotalPercentage; p > 0 {
		line += fmt.Sprintf(", %d%%", p)
	}
	if s := c.Progress.FinalizingStage; s != "" && c.Status == wire.ClusterStatusFinalizing {
		line += ", " + strings.ToLower(string(s)[:1]) + string(s)[1:]
	}
	return line
}

// Snapshot returns a cluster and its hosts as lines for a Screen: the headline and the table on a terminal;
// elsewhere one line a change, without running times.
func Snapshot(c *wire.Cluster, now time.Time) []Line {
	lines := []Line{{Place: c.Name, Text: Headline(c)}}
	for _, text := range Hosts(c.Hosts, now).Lines() {
		lines = append(lines, Line{Text: "  " + text})
	}
	return append(lines, Line{})
}

// PlainSnapshot works as Snapshot, where nothing can be redrawn.
func PlainSnapshot(c *wire.Cluster) []Line {
	lines := []Line{{Place: c.Name, Text: Headline(c)}}
	hosts := c.Hosts
	SortHosts(hosts)
	for n := range hosts {
		lines = append(lines, Line{Place: c.Name + "/" + hosts[n].ID.String(), Text: "  " + HostLine(&hosts[n])})
	}
	return lines
}

// HostLine returns a host in one line: its role, status and progress.
func HostLine(h *wire.Host) string {
	text := HostName(h)
	if role := strings.Trim(HostRole(h), "()* "); role != "" {
		text += " (" + role + ")"
	}
	text += ": " + string(h.Status)
	if stage := h.Progress.CurrentStage; stage != "" {
		text += fmt.Sprintf(", %s, %d%%", stage, h.Progress.InstallationPercentage)
	}
	if decided(h.Status) && h.Status != wire.HostStatusInstalled {
		text += ": " + OneLine(h.StatusInfo)
	}
	return text
}

// Validation is a failing or pending validation.
type Validation struct {
	ID, Status, Message string
}

// Failing lists the validations of a validations_info that do not pass; pending ones only on request.
func Failing(info string, pending bool) []Validation {
	var byCategory map[string][]Validation
	if json.Unmarshal([]byte(info), &byCategory) != nil {
		return nil
	}
	var failing []Validation
	for _, category := range []string{"configuration", "hosts-data", "hardware", "network", "operators"} {
		for _, v := range byCategory[category] {
			if v.Status == "failure" || v.Status == "error" || pending && v.Status == "pending" {
				failing = append(failing, v)
			}
		}
	}
	return failing
}
