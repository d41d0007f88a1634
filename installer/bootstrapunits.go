package installer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"slipway/internal/platform/hostexec"
)

const (
	// journalLines and journalSize limit what is reported of a unit's journal, in lines and bytes.
	journalLines = "20"
	journalSize  = 1500
	unitFailed   = "failed"
	unitActive   = "active"
	unitInactive = "inactive"
)

// controlPlaneUnits carry the temporary control plane, in the order in which they need each other. They retry by
// themselves or are started again by systemd; one that is failed stays so (openshift/installer,
// data/data/bootstrap/systemd/common/units).
var controlPlaneUnits = []string{"release-image.service", "crio-configure.service", "bootkube.service", "approve-csr.service"}

// unitState is the state of a unit in systemd.
type unitState struct {
	name   string
	active string // active, activating, inactive, failed...
	result string // success, exit-code, start-limit-hit...
}

// unitStates reads the states of units; none while systemd does not answer.
func (i *Installer) unitStates(ctx context.Context, units ...string) []unitState {
	text, _ := i.output(ctx, append([]string{"systemctl", "show", "--property=Id,ActiveState,Result"}, units...)...)
	var states []unitState
	for block := range strings.SplitSeq(text, "\n\n") {
		var state unitState
		for line := range strings.Lines(block) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			switch key {
			case "Id":
				state.name = value
			case "ActiveState":
				state.active = value
			case "Result":
				state.result = value
			}
		}
		if state.name != "" {
			states = append(states, state)
		}
	}
	return states
}

// unitIs reports whether a unit is in a state.
func (i *Installer) unitIs(ctx context.Context, unit, state string) bool {
	return slices.ContainsFunc(i.unitStates(ctx, unit), func(s unitState) bool { return s.name == unit && s.active == state })
}

// failedUnit returns an error for the first unit that is failed, with the end of its journal.
func (i *Installer) failedUnit(ctx context.Context, units ...string) error {
	states := i.unitStates(ctx, units...)
	for _, unit := range units {
		for _, s := range states {
			if s.name == unit && s.active == unitFailed {
				return fmt.Errorf("%s failed (%s): %s", s.name, s.result, i.journalTail(ctx, s.name))
			}
		}
	}
	return nil
}

// journalTail returns the end of a unit's journal, without secrets.
func (i *Installer) journalTail(ctx context.Context, unit string) string {
	limited, cancel := within(ctx, i.LogLimit)
	defer cancel()
	argv := []string{"journalctl", "--no-pager", "--output=cat", "--lines=" + journalLines, "--unit=" + unit}
	// Mask before cutting: half a secret would not be recognized as one.
	text := strings.TrimSpace(i.logOf(limited, hostexec.Cmd{Name: argv[0], Args: argv[1:]}, i.redactor()))
	return hostexec.LastLines(text, journalSize)
}

// unitWatch reports bootstrap units, and containers of the control plane, that failed for good.
type unitWatch struct {
	*Installer
	units   []string
	configs *configWatch
	// before are the units that were failed at the last look.
	before []string
}

func (i *Installer) watchUnits(units ...string) *unitWatch {
	return &unitWatch{Installer: i, units: units, configs: i.watchConfigs()}
}

// check returns an error when a unit is failed at two looks in a row: one that is being started again may be seen
// failed once. It also returns an error when the containers that configure the other hosts cannot run.
func (w *unitWatch) check(ctx context.Context) error {
	var failed []string
	for _, s := range w.unitStates(ctx, w.units...) {
		if s.active == unitFailed {
			failed = append(failed, s.name)
		}
	}
	again := slices.DeleteFunc(slices.Clone(w.units), func(unit string) bool {
		return !slices.Contains(failed, unit) || !slices.Contains(w.before, unit)
	})
	w.before = failed
	if len(again) == 0 {
		return w.configs.check()
	}
	return w.failedUnit(ctx, again...)
}
