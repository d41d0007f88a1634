package discovery

import (
	"cmp"
	"context"
	"slices"
	"time"

	"slipway/internal/cluster/events"
	"slipway/internal/cluster/hardware"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// readDiskSpeed takes the outcome of a speed check, also of a failed one: the rule looks at its exit code.
func readDiskSpeed(_ context.Context, s *Service, _ sender, r wire.StepReply) (answer, error) {
	if silent(r) {
		return answer{nothing: true}, nil
	}
	speed, err := decode[wire.DiskSpeedCheckResponse](r)
	if err != nil && r.ExitCode == 0 {
		return answer{}, err
	}
	return answer{apply: func(h *model.Host, t *store.Tx) bool {
		path := cmp.Or(speed.Path, h.InstallationDiskPath)
		if d := hardware.FindDisk(h.Inventory, path); d != nil {
			path = hardware.DevicePath(d) // agents repeat the name they were given, or another one of the same disk
		}
		if path == "" {
			return false
		}
		result := model.DiskSpeed{Tested: true, ExitCode: r.ExitCode, SyncDurationMS: int64(speed.IoSyncDuration)}
		if h.DiskSpeed[path] == result {
			return false
		}
		if h.DiskSpeed == nil {
			h.DiskSpeed = map[string]model.DiskSpeed{}
		}
		h.DiskSpeed[path] = result
		t.Count(model.Event{Name: events.DiskSpeedMeasured, Counted: model.Counted{
			Host: h, Duration: time.Duration(result.SyncDurationMS) * time.Millisecond,
		}})
		s.warnOfSlowDisk(h, path, result, t)
		return true
	}}, nil
}

// warnOfSlowDisk reports a disk above the threshold; only a failed check stops a host.
func (s *Service) warnOfSlowDisk(h *model.Host, path string, speed model.DiskSpeed, t *store.Tx) {
	limit := s.evaluation.DiskSpeedLimit(h)
	if speed.ExitCode != 0 || limit <= 0 || speed.SyncDurationMS <= int64(limit) {
		return
	}
	t.Event(events.New(events.DiskSpeedSlowerThanSupported, lifecycle.AboutHost(h), events.Props{
		"host_disk": path, "fdatasync_duration": speed.SyncDurationMS,
	}, t.Now()))
}

// readImages takes the outcome of pulling images; a failed step lists which failed.
func readImages(_ context.Context, _ *Service, _ sender, r wire.StepReply) (answer, error) {
	if silent(r) {
		return answer{nothing: true}, nil
	}
	pulled, err := decode[wire.ContainerImageAvailabilityResponse](r)
	if err != nil {
		if r.ExitCode != 0 {
			return answer{}, nil
		}
		return answer{}, err
	}
	for _, image := range pulled.Images {
		if image.Name == "" || !image.Result.Valid() {
			return answer{}, model.Invalidf("require images with a name and the result success or failure, found %q with %q",
				image.Name, image.Result)
		}
	}
	return answer{apply: func(h *model.Host, t *store.Tx) bool {
		changed := false
		for _, image := range pulled.Images {
			changed = setImage(h, image, t) || changed
		}
		return changed
	}}, nil
}

func setImage(h *model.Host, image wire.ContainerImageAvailability, t *store.Tx) bool {
	i := slices.IndexFunc(h.Images, func(known wire.ContainerImageAvailability) bool { return known.Name == image.Name })
	var before wire.ContainerImageAvailability
	if i >= 0 {
		before = h.Images[i]
	}
	// An image that was there already is reported without its size: the size of its pull stays.
	if image.Result == wire.ContainerImageAvailabilityResultSuccess && image.SizeBytes == 0 && before.Result == image.Result {
		return false
	}
	if before == image {
		return false
	}
	if i >= 0 {
		h.Images[i] = image
	} else {
		h.Images = append(h.Images, image)
	}
	if before.Result != image.Result {
		t.Event(events.New(events.ImageStatusUpdated, lifecycle.AboutHost(h), events.Props{
			"image_status": image.Name, "result": string(image.Result),
		}, t.Now()))
	}
	return true
}

func readUpgrade(_ context.Context, _ *Service, _ sender, r wire.StepReply) (answer, error) {
	if silent(r) {
		return answer{nothing: true}, nil
	}
	upgrade, err := decode[wire.AgentUpgraded](r)
	if err != nil {
		return answer{}, err
	}
	return answer{apply: func(h *model.Host, t *store.Tx) bool {
		props := events.Props{"agent_image": upgrade.AgentImage}
		switch upgrade.Result {
		case wire.UpgradeAgentResultSuccess:
			t.Event(events.New(events.UpgradeAgentFinished, lifecycle.AboutHost(h), props, t.Now()))
		case wire.UpgradeAgentResultFailure:
			t.Event(events.New(events.UpgradeAgentFailed, lifecycle.AboutHost(h), props, t.Now()))
			if upgrade.Refused != "" {
				props = events.Props{"agent_image": upgrade.AgentImage, "reason": upgrade.Refused}
				t.Event(events.New(events.UpgradeAgentRefused, lifecycle.AboutHost(h), props, t.Now()))
			}
		}
		return false
	}}, nil
}
