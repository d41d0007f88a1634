package discovery

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"slipway/internal/cluster/duesteps"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/platform/redact"
	"slipway/internal/platform/store"
	"slipway/internal/service/quota"
	"slipway/internal/wire"
)

const (
	// exitMediaGone is the exit code of any step on a host that cannot read its
	// discovery media any more (docs/reference/agent-protocol.md, "Lost boot medium").
	exitMediaGone = 256
	// exitContainerExists is how a foreign agent ends an install step whose container exists already.
	exitContainerExists = 125
	// exitMalformed stands in for the exit code of a step that succeeded but whose
	// output cannot be read.
	exitMalformed = -1
)

// Reply takes the result of a step: of a step of discovery, which is stored with the host, or of a pending activity of a workflow,
// which is reported in the same transaction. The first result of a pending activity wins; a later one is accepted and changes nothing.
// It returns an ErrInvalid for a step type or an output that cannot be read.
func (s *Service) Reply(ctx context.Context, infraEnvID, hostID uuid.UUID, r wire.StepReply) error {
	row, known := steps.Of(r.StepType)
	if !known || row.Reply == steps.ReplyUnexpected {
		return model.Invalidf("require a step type of the API, found %q", r.StepType)
	}
	r.Error = redact.Text(r.Error) // programs repeat what they were given, and errors are kept, logged and shown
	if r.ExitCode == exitMediaGone {
		return s.mediaGone(ctx, infraEnvID, hostID, r)
	}
	if r.ExitCode != 0 {
		s.logFailedStep(hostID, r)
	}
	digest := s.digest(r)
	if digest != "" && s.lastRead.has(sender{infraEnvID, hostID}, digest) {
		same, err := s.store.AnsweredAgain(ctx, store.Again{
			InfraEnvID: infraEnvID, HostID: hostID, Fact: model.Fact(r.StepType), StepID: r.StepID, Digest: digest, Statuses: listening,
		})
		if same || err != nil {
			return err
		}
	}
	keep, err := s.reserve(ctx, infraEnvID, hostID, r)
	if err != nil {
		return err
	}
	defer keep()
	var a answer
	var malformed error
	if read := readers[r.StepType]; read != nil {
		a, malformed = read(ctx, s, sender{infraEnvID, hostID}, r)
	}
	if malformed != nil && !errors.Is(malformed, model.ErrInvalid) {
		return malformed
	}
	update := s.store.UpdateHostFacts
	if r.StepType == wire.StepTypeConnectivityCheck {
		update = s.store.UpdateHost
	}
	h, err := update(ctx, infraEnvID, hostID, func(h *model.Host, t *store.Tx) error {
		switch {
		case a.nothing:
		case containerExists(r):
			t.StepBlocked(h, store.Reply{StepID: r.StepID, ExitCode: r.ExitCode, Error: containerLeft + r.Error})
		default:
			handOn(h, r, malformed, t)
		}
		changed := mediaBack(h, r)
		if lifecycle.Disconnected.Has(h.Status) {
			changed = true // a sign of life
		}
		if a.apply != nil && accepts(row, h) {
			changed = a.apply(h, t) || changed
			keepDigest(h, model.Fact(r.StepType), digest)
		}
		if r.ExitCode == 0 && malformed == nil && !a.nothing {
			recordAnswer(h, r, t)
		}
		if changed {
			t.Refresh(h.ClusterID, h.InfraEnvID)
		}
		return nil
	})
	if err == nil && digest != "" && h.Facts[model.Fact(r.StepType)].Digest == digest {
		s.lastRead.keep(sender{infraEnvID, hostID}, digest)
	}
	switch {
	case err != nil:
		return err
	case malformed != nil:
		return malformed
	case a.cluster != nil && h.ClusterID != nil && accepts(row, h):
		return a.cluster(ctx, *h.ClusterID)
	}
	return nil
}

// reserve admits the bytes of an inventory. One that is no larger than the inventory that it replaces is always admitted.
func (s *Service) reserve(ctx context.Context, infraEnvID, hostID uuid.UUID, r wire.StepReply) (keep func(), err error) {
	if r.StepType != wire.StepTypeInventory || r.ExitCode != 0 {
		return func() {}, nil
	}
	size := int64(len(r.Output))
	done, err := s.options.Quota.Reserve(ctx, quota.Subject{InfraEnvID: infraEnvID}, size)
	if !errors.Is(err, model.ErrTooLarge) {
		return func() { done(size) }, err
	}
	before, sizeErr := s.store.InventoryBytes(ctx, infraEnvID, hostID)
	if sizeErr != nil || size > before {
		return nil, errors.Join(err, sizeErr)
	}
	return func() {}, nil
}

// containerLeft asks a user to act when the container of a failed installation prevents the next one.
const containerLeft = "the installer that failed before is still on the host: boot the host from the discovery image, then retry: "

// containerExists reports whether a foreign agent's host has a container of the installer already: the step was handed out twice and
// runs, or an earlier one failed and left its container (openshift/assisted-installer-agent, src/commands/actions/install_cmd.go:
// podman run without --rm).
func containerExists(r wire.StepReply) bool {
	return r.StepType == wire.StepTypeInstall && r.ExitCode == exitContainerExists && strings.Contains(r.Error, "already in use")
}

// handOn gives a result to the workflow that waits for it; discovery's own steps
// have no workflow. A result that cannot be parsed is a failure.
func handOn(h *model.Host, r wire.StepReply, malformed error, t *store.Tx) {
	reply := store.Reply{StepID: r.StepID, ExitCode: r.ExitCode, Output: r.Output, Error: r.Error, ByType: countsByType(h, r)}
	if reply.ByType == "" && (r.StepID == "" || h.Facts[model.Fact(r.StepType)].StepID == r.StepID) {
		return
	}
	if malformed != nil && r.ExitCode == 0 {
		reply.ExitCode, reply.Error = exitMalformed, malformed.Error()
	}
	t.StepReplied(h, reply)
}

// countsByType returns the type of a step whose reply counts whatever id it has, as all do in openshift/assisted-service
// (internal/bminventory/inventory.go, handleReplyByType): a check, which writes nothing, or a failed install step, which ends an
// attempt.
func countsByType(h *model.Host, r wire.StepReply) string {
	row, _ := steps.Of(r.StepType)
	failedInstall := r.StepType == wire.StepTypeInstall && r.ExitCode != 0 && h.AgentSteps == model.InstallStep
	if !row.Check && !failedInstall {
		return ""
	}
	return string(r.StepType)
}

// recordAnswer notes that a step of discovery was answered, whatever id it had.
func recordAnswer(h *model.Host, r wire.StepReply, t *store.Tx) {
	fact := model.Fact(r.StepType)
	if record, asked := h.Facts[fact]; asked {
		h.Facts[fact] = duesteps.Answered(record, t.Now())
	}
}

// answer is a reply that was read, before any row is locked.
type answer struct {
	// apply stores it with the host and reports whether anything is new.
	apply func(h *model.Host, t *store.Tx) (changed bool)
	// cluster stores the part of the answer about the cluster.
	cluster func(ctx context.Context, clusterID uuid.UUID) error
	// nothing is set for an empty reply: the agent is busy with the same step.
	nothing bool
}

// sender is the host a reply comes from.
type sender struct{ infraEnvID, hostID uuid.UUID }

// accepts reports whether the answer of a host to a step counts as a fact now. A host
// that joins an existing cluster runs its checks while it is already installing.
func accepts(row steps.Step, h *model.Host) bool {
	switch row.Reply {
	case steps.ReplyDiscovery:
		return lifecycle.InDiscovery.Has(h.Status)
	case steps.ReplyPreparation:
		return lifecycle.BeforeWriting.Has(h.Status) || row.Check && h.DayTwo() && h.Status == model.HostInstalling
	case steps.ReplyUnexpected, steps.ReplyResult:
	}
	return false
}

// reader reads the reply to a step, before any row is locked.
type reader func(ctx context.Context, s *Service, from sender, r wire.StepReply) (answer, error)

// readers are for the steps whose reply is a fact about the host or its cluster.
var readers = map[wire.StepType]reader{
	wire.StepTypeInventory:                  readInventory,
	wire.StepTypeConnectivityCheck:          readConnectivity,
	wire.StepTypeFreeNetworkAddresses:       readFreeAddresses,
	wire.StepTypeNtpSynchronizer:            readNTP,
	wire.StepTypeDomainResolution:           readDomains,
	wire.StepTypeVerifyVips:                 readVIPs,
	wire.StepTypeInstallationDiskSpeedCheck: readDiskSpeed,
	wire.StepTypeContainerImageAvailability: readImages,
	wire.StepTypeUpgradeAgent:               readUpgrade,
	wire.StepTypeAPIVipConnectivityCheck:    readIgnitionDownload,
	wire.StepTypeTangConnectivityCheck:      readTang,
	wire.StepTypeDhcpLeaseAllocate:          readLease,
}

func (s *Service) logFailedStep(hostID uuid.UUID, r wire.StepReply) {
	s.log.Info("step failed on host", "host", hostID, "type", r.StepType, "step", r.StepID,
		"exit_code", r.ExitCode, "error", fmt.Sprintf("%.200s", r.Error))
}
