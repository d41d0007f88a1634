package lifecycle

import (
	"fmt"
	"time"
)

// TimeoutSetting is a variable ParseTimeouts reads, for documentation.
type TimeoutSetting struct {
	Name    string        // in the environment
	Default time.Duration // its value when it is not set; zero for ENABLE_SOFT_TIMEOUTS
	Why     string
}

// TimeoutSettings lists the variables ParseTimeouts reads.
func TimeoutSettings() []TimeoutSetting {
	defaults := DefaultTimeouts()
	out := []TimeoutSetting{{
		Name: "ENABLE_SOFT_TIMEOUTS", Why: "`true`: a host that falls silent while it is installed is reported and continues when it is back",
	}}
	for _, s := range settings {
		if s.env != "" {
			out = append(out, TimeoutSetting{Name: s.env, Default: *s.at(&defaults), Why: s.why})
		}
	}
	for _, s := range timedStages() {
		out = append(out, TimeoutSetting{
			Name: stageEnv("HOST_STAGE_", string(s)), Default: defaults.Stages[s], Why: fmt.Sprintf("a host in stage %q", s),
		})
	}
	for _, s := range timedFinalizingStages() {
		why := fmt.Sprintf("a cluster in finalizing stage %q", s)
		if waitsForOLM[s] {
			why += "; raised to the longest of its OLM operators"
		}
		out = append(out, TimeoutSetting{Name: stageEnv("FINALIZING_STAGE_", string(s)), Default: defaults.FinalizingStages[s], Why: why})
	}
	return out
}
