package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/transitions"
	"slipway/internal/wire"
)

// RegisterInput is an agent's registration.
type RegisterInput struct {
	InfraEnvID, HostID uuid.UUID
	AgentVersion       string
	AgentSteps         model.AgentSteps // empty: InstallStep
	// Boot is how the agent names the boot of the host. Each registration of an agent that does not name it is a boot.
	Boot string
	// Again says that the agent registered the host before in this boot.
	Again bool
	// Proven says that the caller has the token that an earlier registration gave this host.
	Proven bool
	// ByImage says that the caller has the token of a discovery image only, which names any host of its InfraEnv.
	ByImage bool
	// Address is where the caller is, for people.
	Address string
}

// Registration is a host that registered.
type Registration struct {
	*model.Host
	// Unproven hosts are installed, being installed or connected, and the caller did not prove to be the host: it gets no token, and
	// earlier tokens stay valid.
	Unproven bool
}

// Register registers a host, for the first time or after it was booted again (rows
// RegisterHost of the host tables). It returns an ErrNotFound without the InfraEnv
// or its cluster and for a host that a user deleted since its boot, and an ErrConflict when the cluster takes no new hosts or
// the state of the host does not allow it to register.
func (s *Service) Register(ctx context.Context, in RegisterInput) (Registration, error) {
	if in.AgentSteps == "" {
		in.AgentSteps = model.InstallStep
	}
	in.Boot = cmp.Or(in.Boot, uuid.NewString())
	j, err := s.store.Joining(ctx, in.InfraEnvID, in.HostID)
	if err != nil {
		return Registration{}, err
	}
	if in.Again && j.HostDeleted {
		if err := s.store.KeepDeleted(ctx, in.InfraEnvID, in.HostID); err != nil {
			return Registration{}, err
		}
		return Registration{}, model.NotFoundf("host %s was deleted: boot it from the discovery image to register it again", in.HostID)
	}
	unproven := false
	h, err := s.store.RegisterHost(ctx, in.InfraEnvID, in.HostID, func() *model.Host { return s.newHost(in, j) },
		func(h *model.Host, created bool, t *store.Tx) error {
			if created {
				h.TokenGeneration++
				return s.admit(h, j, t)
			}
			if unproven = in.ByImage && !approved(h, t.Now()) && s.heard(h, t.Now()); unproven {
				s.reportUnproven(h, in, t)
				return nil
			}
			if unproven = !in.Proven && lifecycle.NeedsProof.Has(h.Status); !unproven {
				h.TokenGeneration++
				h.ApprovedUntil = time.Time{}
			}
			return s.registerAgain(h, j, in, t)
		})
	if errors.Is(err, model.ErrConflict) {
		s.reportRefusal(ctx, in, j, err)
	}
	return Registration{h, unproven}, err
}

// heard reports whether the agent of a host, in its live image, still polls: another machine that uses the host's id changes nothing.
func (s *Service) heard(h *model.Host, now time.Time) bool {
	failed := h.Status == model.HostError && !h.DecisionOpen
	if failed || lifecycle.AwaitsBoot.Has(h.Status) || lifecycle.LeftItsImage(h.Status, h.Stage) {
		return false
	}
	return now.Sub(h.CheckedInAt) <= s.timeouts.Disconnect
}

// approved reports whether a user lets another machine take the place of a host that is not being installed.
func approved(h *model.Host, now time.Time) bool {
	return now.Before(h.ApprovedUntil) && !lifecycle.HostsUnderInstallation.Has(h.Status)
}

// unprovenEvery is how often a host has an event about machines that did not prove to be it.
const unprovenEvery = 10 * time.Minute

// reportUnproven makes an event of a registration that was not proven, unless there was one lately: agents register again and again.
func (s *Service) reportUnproven(h *model.Host, in RegisterInput, t *store.Tx) {
	if t.Now().Sub(h.UnprovenAt) < unprovenEvery {
		return
	}
	h.UnprovenAt = t.Now()
	reason := fmt.Sprintf("the agent of the host was heard within %s. If the host was booted again, it is taken after that time, "+
		"or at once with 'slipway host approve %s'", s.timeouts.Disconnect, h.ID)
	if lifecycle.HostsUnderInstallation.Has(h.Status) {
		reason = "the host is being installed, and its agent is heard"
	}
	t.Event(events.New(events.HostRegistrationUnproven, lifecycle.AboutHost(h),
		events.Props{"address": cmp.Or(in.Address, "an unknown address"), "reason": reason}, t.Now()))
}

func (s *Service) newHost(in RegisterInput, j store.Joining) *model.Host {
	h := &model.Host{
		ID: in.HostID, InfraEnvID: in.InfraEnvID, ClusterID: j.ClusterID, UserName: j.UserName, Kind: model.KindHost,
		Role: model.RoleAutoAssign, AgentSteps: in.AgentSteps, Boot: in.Boot, DiscoveryAgentVersion: in.AgentVersion,
		RegisteredAt: s.now().UTC(), MediaStatus: model.MediaConnected,
	}
	if j.ClusterKind == model.KindAddHostsCluster || j.ClusterStatus == model.ClusterAddingHosts {
		h.Kind, h.Role = model.KindAddToExistingClusterHost, model.RoleWorker
	}
	facts := lifecycle.NewHostFacts(lifecycle.HostInput{Host: h, Now: s.now()})
	_, _ = lifecycle.ApplyHost(h, lifecycle.RegisterHost, facts, nil) // the rows of a new host fit both kinds
	lifecycle.FollowSingleNode(&model.Cluster{Kind: j.ClusterKind, ControlPlaneCount: j.ControlPlaneCount}, h)
	return h
}

// admit accepts or rejects a new host.
func (s *Service) admit(h *model.Host, j store.Joining, t *store.Tx) error {
	crowd := t.Crowd() // anyone with an image can register hosts
	if most := s.options.MaxHosts; most > 0 && crowd.Hosts >= most {
		return model.Conflictf("infra-env %s takes no more hosts: require at most %d, found %d", h.InfraEnvID, most, crowd.Hosts)
	}
	if most := s.options.NewHosts; most > 0 && crowd.Lately >= most {
		return fmt.Errorf("%w: infra-env %s takes %d hosts a minute that it does not know", model.ErrTooMany, h.InfraEnvID, most)
	}
	if j.ClusterID != nil && !lifecycle.TakesHosts.Has(j.ClusterStatus) {
		if j.ClusterStatus == model.ClusterInstalled {
			return model.Conflictf("cluster %s is installed: hosts can be added only after it was opened for them", j.ClusterID)
		}
		return model.Conflictf("cluster %s takes no hosts: require status insufficient, ready, pending-for-input or adding-hosts, found %s",
			j.ClusterID, j.ClusterStatus)
	}
	t.CheckIn(h)
	t.Refresh(h.ClusterID, h.InfraEnvID)
	t.Event(events.New(events.HostRegistrationSucceeded, lifecycle.AboutHost(h), nil, t.Now()))
	return nil
}

func (s *Service) registerAgain(h *model.Host, j store.Joining, in RegisterInput, t *store.Tx) error {
	facts := lifecycle.NewHostFacts(lifecycle.HostInput{Host: h, Timeouts: s.timeouts, Now: t.Now()})
	facts.BeganBootstrap = h.BootstrapBoot != "" && h.BootstrapBoot == in.Boot
	if h.Stage.LeftLiveImage() && h.Stage != model.StageDone {
		// A later reboot that ends in the discovery image is a wrong boot order as well.
		facts.Stage = model.StageRebooting
	}
	about := lifecycle.AboutHost(h) // its name may come from its inventory
	tr, err := lifecycle.ApplyHost(h, lifecycle.RegisterHost, facts, t)
	if err != nil {
		return err
	}
	h.DiscoveryAgentVersion, h.AgentSteps, h.Boot = in.AgentVersion, in.AgentSteps, in.Boot
	switch tr.Effect {
	case lifecycle.EffectRegistered:
		if tr.From == model.HostReclaimingRebooting {
			t.SupersedeSteps(h) // the reply to its reboot may be lost: it would be asked for again
		}
		if tr.From == model.HostPreparingForInstallation || tr.From == model.HostPreparingSuccessful {
			t.FailSteps(h, wire.ExitInterrupted, "host rebooted while it was prepared")
		}
	case lifecycle.EffectFailed:
		transitions.Failed(h, j.ClusterStatus, wire.ExitInterrupted, "host rebooted during the installation", t)
	}
	if tr.Effect == lifecycle.EffectWrongBootOrder {
		t.PassStepsOfOtherBoots(h) // its workflow may not have seen yet that the host reboots
	} else {
		t.FailStepsOfOtherBoots(h, wire.ExitInterrupted, "host booted again before it took the step")
	}
	t.CheckIn(h)
	t.Refresh(h.ClusterID, h.InfraEnvID)
	t.Event(events.New(events.HostRegistrationSucceeded, about, nil, t.Now()))
	return nil
}

// reportRefusal notifies the users of the cluster that a host could not register.
func (s *Service) reportRefusal(ctx context.Context, in RegisterInput, j store.Joining, refusal error) {
	err := s.store.Write(ctx, func(t *store.Tx) error {
		t.Event(events.New(events.HostRegistrationFailed, events.Subject{
			ClusterID: j.ClusterID, HostID: &in.HostID, InfraEnvID: &in.InfraEnvID, HostName: in.HostID.String(),
		}, events.Props{"message": refusal.Error()}, t.Now()))
		return nil
	})
	if err != nil {
		s.log.Warn("event was not written", "error", err)
	}
}
