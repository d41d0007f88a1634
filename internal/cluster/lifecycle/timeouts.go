package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"slipway/internal/cluster/steps"
	"slipway/internal/model"
)

// Timeouts are how long things may take. They are the input of workflows, so that a
// change of settings does not change an installation that runs: the JSON is stable,
// durations are nanoseconds.
type Timeouts struct {
	Disconnect        time.Duration `json:"disconnect"`          // of a host that does not poll
	BootstrapGrace    time.Duration `json:"bootstrap_grace"`     // added for the bootstrap host
	StepPickup        time.Duration `json:"step_pickup"`         // status installing until the host takes the step
	Reclaim           time.Duration `json:"reclaim"`             // of a host on its way to the pool
	PendingUserAction time.Duration `json:"pending_user_action"` // of a host that waits for its user
	SingleNodeReboot  time.Duration `json:"single_node_reboot"`  // stage Rebooting of a single node
	PrepareHost       time.Duration `json:"prepare_host"`
	PrepareCluster    time.Duration `json:"prepare_cluster"`
	DiskCheck         time.Duration `json:"disk_check"`
	ImageAvailability time.Duration `json:"image_availability"`
	Installation      time.Duration `json:"installation"` // from begin to end, with soft time-outs or a user to wait for
	Finalizing        time.Duration `json:"finalizing"`   // with hard time-outs
	HostLogPending    time.Duration `json:"host_log_pending"`
	HostLogCollection time.Duration `json:"host_log_collection"`
	LogPending        time.Duration `json:"log_pending"`
	LogCollection     time.Duration `json:"log_collection"`
	Reset             time.Duration `json:"reset"`
	Completion        time.Duration `json:"completion,omitempty"` // of a controller after its last report
	VIPLease          time.Duration `json:"vip_lease"`
	// Soft time-outs report a stage that takes too long and let it continue.
	Soft bool `json:"soft"`
	// Stages and FinalizingStages hold the exceptions from OtherStages and OtherFinalizing.
	Stages           map[model.Stage]time.Duration           `json:"stages"`
	FinalizingStages map[model.FinalizingStage]time.Duration `json:"finalizing_stages"`
	OtherStages      time.Duration                           `json:"other_stages"`
	OtherFinalizing  time.Duration                           `json:"other_finalizing"`
}

// setting is one time-out: its name in the environment ("" when the contract has none),
// its default and where it goes.
type setting struct {
	env  string
	dflt time.Duration
	why  string
	at   func(*Timeouts) *time.Duration
}

// settings is the table of docs/reference/state-rules.md, "Time-outs".
var settings = []setting{
	{
		"HOST_MAX_DISCONNECTION_TIME", model.DefaultDisconnectAfter, "three missed polls",
		func(t *Timeouts) *time.Duration { return &t.Disconnect },
	},
	{
		"", model.DefaultBootstrapGrace, "it restarts its network for the bootstrap services",
		func(t *Timeouts) *time.Duration { return &t.BootstrapGrace },
	},
	{
		"", 20 * time.Minute, "the step is available, the host does not take it",
		func(t *Timeouts) *time.Duration { return &t.StepPickup },
	},
	{
		"", 60 * time.Minute, "download and reboot of a discovery image",
		func(t *Timeouts) *time.Duration { return &t.Reclaim },
	},
	{
		"HOST_INSTALLING_PENDING_USER_ACTION_TIMEOUT", 60 * time.Minute, "someone has to change a boot order",
		func(t *Timeouts) *time.Duration { return &t.PendingUserAction },
	},
	{
		"", 80 * time.Minute, "a single node reports nothing between reboot and Joined; two boots",
		func(t *Timeouts) *time.Duration { return &t.SingleNodeReboot },
	},
	{
		"PREPARE_FOR_INSTALLATION_HOST_TIMEOUT", 8 * time.Minute, "raised to the checks it contains",
		func(t *Timeouts) *time.Duration { return &t.PrepareHost },
	},
	{
		"PREPARE_FOR_INSTALLATION_TIMEOUT", 10 * time.Minute, "raised to the checks it contains",
		func(t *Timeouts) *time.Duration { return &t.PrepareCluster },
	},
	{
		"DISK_CHECK_TIMEOUT", 8 * time.Minute, "a slow disk writes 44 MB with syncs",
		func(t *Timeouts) *time.Duration { return &t.DiskCheck },
	},
	{
		"IMAGE_AVAILABILITY_TIMEOUT", 16 * time.Minute, "four images over a slow link",
		func(t *Timeouts) *time.Duration { return &t.ImageAvailability },
	},
	{
		"INSTALLATION_TIMEOUT", 24 * time.Hour, "certificates of the bootstrap phase expire after a day",
		func(t *Timeouts) *time.Duration { return &t.Installation },
	},
	{
		"FINALIZING_TIMEOUT", 5 * time.Hour, "all finalizing stages together",
		func(t *Timeouts) *time.Duration { return &t.Finalizing },
	},
	{
		"HOST_LOG_PENDING_TIMEOUT", 2 * time.Minute, "until the host begins to collect",
		func(t *Timeouts) *time.Duration { return &t.HostLogPending },
	},
	{
		"HOST_LOG_COLLECTION_TIMEOUT", 10 * time.Minute, "until the host has sent its logs",
		func(t *Timeouts) *time.Duration { return &t.HostLogCollection },
	},
	{
		"LOG_PENDING_TIMEOUT", 10 * time.Minute, "until the controller begins to collect",
		func(t *Timeouts) *time.Duration { return &t.LogPending },
	},
	{
		"LOG_COLLECTION_TIMEOUT", 60 * time.Minute, "until the controller has sent its logs",
		func(t *Timeouts) *time.Duration { return &t.LogCollection },
	},
	{
		"RESET_CLUSTER_TIMEOUT", 3 * time.Minute, "until hosts in the live image are back in discovery",
		func(t *Timeouts) *time.Duration { return &t.Reset },
	},
	{
		"", 2 * time.Minute, "all facts of an installed cluster are there, its controller does not say so",
		func(t *Timeouts) *time.Duration { return &t.Completion },
	},
	{
		"", model.DefaultVIPLease, "a DHCP server answers in seconds",
		func(t *Timeouts) *time.Duration { return &t.VIPLease },
	},
}

// stageTimeouts are the host stages that differ from otherStages.
var stageTimeouts = map[model.Stage]time.Duration{
	model.StageStartingInstallation: 30 * time.Minute,
	model.StageWritingImageToDisk:   30 * time.Minute,
	model.StageCopyingRegistryData:  90 * time.Minute,
	// Two boots of a slow server and the download of the release's operating system between them.
	model.StageRebooting:          80 * time.Minute,
	model.StageWaitingForIgnition: 24 * time.Hour,
}

// timedStages lists the host stages whose time-out can be set from the environment.
func timedStages() []model.Stage {
	return slices.DeleteFunc(steps.AllStages(), func(s model.Stage) bool { return s == model.StageDone })
}

// timedFinalizingStages lists the cluster stages whose time-out can be set.
func timedFinalizingStages() []model.FinalizingStage {
	return model.FinalizingStages[:len(model.FinalizingStages)-1]
}

const (
	otherStages     = 60 * time.Minute
	otherFinalizing = 70 * time.Minute
	olmShort        = 10 * time.Minute
	// operatorsHard is long because FINALIZING_TIMEOUT ends the wait first.
	operatorsHard = 10 * time.Hour
	operatorsSoft = 70 * time.Minute
	// A preparation outlasts its longest check by these.
	prepareHostMargin    = time.Minute
	prepareClusterMargin = 2 * time.Minute
)

// DefaultTimeouts returns the time-outs of the contract.
func DefaultTimeouts() Timeouts {
	t, err := ParseTimeouts(nil)
	if err != nil {
		panic(fmt.Sprintf("default time-outs: %v", err)) // no input, no error
	}
	return t
}

// ParseTimeouts reads the time-outs from environment values (durations such as "30m",
// and ENABLE_SOFT_TIMEOUTS); a missing or empty one takes its default. The error
// names the variable.
func ParseTimeouts(env map[string]string) (Timeouts, error) {
	t := Timeouts{
		Stages:           map[model.Stage]time.Duration{},
		FinalizingStages: map[model.FinalizingStage]time.Duration{},
		OtherStages:      otherStages,
		OtherFinalizing:  otherFinalizing,
	}
	var err error
	if t.Soft, err = boolSetting(env, "ENABLE_SOFT_TIMEOUTS"); err != nil {
		return Timeouts{}, err
	}
	for _, s := range settings {
		if *s.at(&t), err = durationSetting(env, s.env, s.dflt); err != nil {
			return Timeouts{}, err
		}
	}
	checks := max(t.DiskCheck, t.ImageAvailability)
	t.PrepareHost = max(t.PrepareHost, checks+prepareHostMargin)
	t.PrepareCluster = max(t.PrepareCluster, checks+prepareClusterMargin)
	if err := t.parseStages(env); err != nil {
		return Timeouts{}, err
	}
	return t, nil
}

func (t *Timeouts) parseStages(env map[string]string) (err error) {
	for _, s := range timedStages() {
		dflt, ok := stageTimeouts[s]
		if !ok {
			dflt = otherStages
		}
		if t.Stages[s], err = durationSetting(env, stageEnv("HOST_STAGE_", string(s)), dflt); err != nil {
			return err
		}
	}
	for _, s := range timedFinalizingStages() {
		dflt := otherFinalizing
		switch s {
		case model.FinalizingWaitingForOperators:
			dflt = operatorsHard
			if t.Soft {
				dflt = operatorsSoft
			}
		case model.FinalizingApplyingOLMManifests, model.FinalizingWaitingForOperatorSetup:
			dflt = olmShort
		}
		if t.FinalizingStages[s], err = durationSetting(env, stageEnv("FINALIZING_STAGE_", string(s)), dflt); err != nil {
			return err
		}
	}
	return nil
}

// stageEnv returns the variable of a stage: HOST_STAGE_WRITING_IMAGE_TO_DISK_TIMEOUT.
func stageEnv(prefix, stage string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(stage, " ", "_")) + "_TIMEOUT"
}

func durationSetting(env map[string]string, name string, dflt time.Duration) (time.Duration, error) {
	text := env[name]
	if name == "" || text == "" {
		return dflt, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("read %s: require a duration such as 30m, found %q", name, text)
	}
	return d, nil
}

func boolSetting(env map[string]string, name string) (bool, error) {
	switch strings.ToLower(env[name]) {
	case "", "false", "0":
		return false, nil
	case "true", "1":
		return true, nil
	}
	return false, fmt.Errorf("read %s: require true or false, found %q", name, env[name])
}

// Stage returns how long a host may be in a stage, counted from stage_updated_at.
func (t Timeouts) Stage(stage model.Stage, singleNode bool) time.Duration {
	if singleNode && stage == model.StageRebooting {
		return t.SingleNodeReboot
	}
	if d, ok := t.Stages[stage]; ok {
		return d
	}
	return t.OtherStages
}

// FinalizingStage returns how long a cluster may be in a finalizing stage. operators is the
// longest time-out of the cluster's OLM operators: stages that wait for them last as long.
func (t Timeouts) FinalizingStage(stage model.FinalizingStage, operators time.Duration) time.Duration {
	d, ok := t.FinalizingStages[stage]
	if !ok {
		d = t.OtherFinalizing
	}
	if waitsForOLM[stage] {
		d = max(d, operators)
	}
	return d
}

var waitsForOLM = map[model.FinalizingStage]bool{
	model.FinalizingWaitingForCSVInit:       true,
	model.FinalizingWaitingForCSV:           true,
	model.FinalizingApplyingOLMManifests:    true,
	model.FinalizingWaitingForOperatorSetup: true,
}
