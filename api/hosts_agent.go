package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/httpapi"
	"slipway/internal/service/discovery"
	"slipway/internal/wire"
)

// V2RegisterHost registers a host: a new host, or a host that booted again.
func (s *server) V2RegisterHost(w http.ResponseWriter, r *http.Request, infraEnvID uuid.UUID, params wire.V2RegisterHostParams) error {
	var body wire.HostCreateParams
	if err := admission.Read(r, &body); err != nil {
		return err
	}
	if body.HostID == uuid.Nil {
		return model.Invalidf("host_id: require an id that is not zero, found %s", body.HostID)
	}
	if caller := admission.CallerOf(r); caller.Role == auth.RoleAgent && caller.HostID != body.HostID {
		return httpapi.Errorf(httpapi.ErrForbidden, "host_id: require the host of this token, found %s", body.HostID)
	}
	if err := s.checkComesBack(r.Context(), infraEnvID, body.HostID); err != nil {
		return err
	}
	steps := model.InstallStep
	if r.Header.Get(wire.HeaderSteps) == wire.StepsFine {
		steps = model.FineSteps
	}
	h, err := s.Discovery.Register(r.Context(), discovery.RegisterInput{
		InfraEnvID: infraEnvID, HostID: body.HostID, AgentSteps: steps, Boot: boot(r),
		Again:        r.Header.Get(wire.HeaderRegistration) == wire.RegistrationAgain,
		Proven:       admission.CallerOf(r).HostID == body.HostID,
		ByImage:      admission.CallerOf(r).Role == auth.RoleRegistrar,
		Address:      admission.AddressOf(r),
		AgentVersion: or(deref(body.DiscoveryAgentVersion), params.DiscoveryAgentVersion),
	})
	if err != nil {
		return err
	}
	if !h.Unproven {
		if err := s.giveToken(w, r, h.Host); err != nil {
			return err
		}
	}
	return created(w, registrationToWire(h.Host, s.agentFor(h.Host)))
}

// giveToken gives a registered host a token of its own, where hosts have some.
func (s *server) giveToken(w http.ResponseWriter, r *http.Request, h *model.Host) error {
	key, err := s.Store.TokenKey(r.Context(), h.InfraEnvID)
	if errors.Is(err, model.ErrNotFound) {
		return nil // a deleted InfraEnv, whose hosts register without tokens only
	}
	if err != nil {
		return err
	}
	token, err := s.Identity.HostToken(h, key)
	if err != nil {
		return err
	}
	sendToken(w, token)
	return nil
}

// renewToken gives a host that polls another token when its own is old.
func (s *server) renewToken(w http.ResponseWriter, r *http.Request) error {
	token, err := s.Identity.Renew(auth.SchemeAgent.Place().Of(r))
	if err != nil {
		return err
	}
	sendToken(w, token)
	return nil
}

// unprovenPause is after how many seconds a machine polls again that registered an installed host without its token.
const unprovenPause = 60

// answerUnproven answers a poll with the token of an image. Nothing is asked of a host that has left its image, and nothing of it
// changes; any other host registers again, until it gets a token.
func (s *server) answerUnproven(w http.ResponseWriter, r *http.Request, infraEnvID, hostID uuid.UUID) (answered bool, err error) {
	if admission.CallerOf(r).Role != auth.RoleRegistrar {
		return false, nil
	}
	host, err := s.Store.HostAccess(r.Context(), infraEnvID, hostID)
	if err != nil || !lifecycle.LeftItsImage(host.Status, host.Stage) {
		return false, err
	}
	return true, ok(w, wire.Steps{
		Instructions: []wire.Step{}, NextInstructionSeconds: unprovenPause, PostStepAction: wire.Continue,
	})
}

func sendToken(w http.ResponseWriter, token model.Secret) {
	if token != "" {
		w.Header().Set(wire.HeaderToken, token.Reveal())
		w.Header().Set("Cache-Control", "no-store")
	}
}

// checkComesBack refuses new hosts of an InfraEnv with a disconnected image, because the service in that image installs
// them. Agents retry after a 400, and are accepted when the InfraEnv has another image.
func (s *server) checkComesBack(ctx context.Context, infraEnvID, hostID uuid.UUID) error {
	e, err := s.Store.InfraEnv(ctx, infraEnvID)
	if errors.Is(err, model.ErrNotFound) {
		return nil // hosts of clusters register with a deleted InfraEnv
	}
	if err != nil || e.ImageType != string(wire.ImageTypeDisconnectedIso) {
		return err
	}
	_, err = s.Store.Host(ctx, infraEnvID, hostID)
	if errors.Is(err, model.ErrNotFound) {
		return model.Invalidf(
			"infra-env %s takes no hosts: require image_type full-iso or minimal-iso, found %s, whose hosts have a service of their own",
			e.Name,
			e.ImageType,
		)
	}
	return err
}

// V2GetNextSteps returns the steps a host has to run. An agent that prefers to wait is answered when a step is due, or
// after the time it prefers (RFC 7240, section 4.3).
func (s *server) V2GetNextSteps(
	w http.ResponseWriter,
	r *http.Request,
	infraEnvID, hostID uuid.UUID,
	params wire.V2GetNextStepsParams,
) error {
	if answered, err := s.answerUnproven(w, r, infraEnvID, hostID); answered || err != nil {
		return err
	}
	wait := min(admission.PreferredWait(r.Header.Values(wire.HeaderPrefer)), discovery.MaxWait)
	if wait > 0 {
		end, err := s.polls.Enter(infraEnvID.String() + hostID.String())
		if err != nil {
			return err
		}
		defer end()
		defer s.hold(w, wait)()
	}
	steps, err := s.Discovery.NextSteps(r.Context(), discovery.PollInput{
		InfraEnvID: infraEnvID, HostID: hostID, Timestamp: int64(params.Timestamp),
		AgentVersion: params.DiscoveryAgentVersion, Boot: boot(r), Wait: wait,
	})
	if err != nil {
		return err
	}
	if held := wait > 0 && steps.NextInstructionSeconds == 0; held {
		applied(w, wait)
	}
	steps.Instructions = orEmpty(steps.Instructions)
	if err := s.renewToken(w, r); err != nil {
		return err
	}
	return ok(w, steps)
}

// bootLength bounds an agent's name of its boot; the kernel's ids have 36 characters.
const bootLength = 64

// boot returns a Slipway agent's name of its boot; other agents send none.
func boot(r *http.Request) string {
	id := r.Header.Get(wire.HeaderBoot)
	if len(id) > bootLength || strings.ContainsFunc(id, unicode.IsControl) || !utf8.ValidString(id) {
		return ""
	}
	return id
}

// V2PostStepReply stores the result of one step.
func (s *server) V2PostStepReply(w http.ResponseWriter, r *http.Request, infraEnvID, hostID uuid.UUID, _ wire.V2PostStepReplyParams) error {
	var reply wire.StepReply
	if err := admission.Read(r, &reply); err != nil {
		return err
	}
	if err := s.Discovery.Reply(r.Context(), infraEnvID, hostID, reply); err != nil {
		return err
	}
	return noContent(w)
}

// V2UpdateHostInstallProgress records the stage a host has reached.
func (s *server) V2UpdateHostInstallProgress(
	w http.ResponseWriter,
	r *http.Request,
	infraEnvID, hostID uuid.UUID,
	_ wire.V2UpdateHostInstallProgressParams,
) error {
	var params wire.HostProgress
	if err := admission.Read(r, &params); err != nil {
		return err
	}
	if deref(params.CurrentStage) == "" {
		return model.Invalidf("current_stage is required")
	}
	stage, info := stageFromWire(params)
	if err := s.HostReports.Stage(r.Context(), infraEnvID, hostID, stage, info); err != nil {
		return err
	}
	return ok(w, nil)
}

// V2UpdateHostLogsProgress records the progress of the collection of a host's logs.
func (s *server) V2UpdateHostLogsProgress(w http.ResponseWriter, r *http.Request, infraEnvID, hostID uuid.UUID) error {
	var params wire.LogsProgressParams
	if err := admission.Read(r, &params); err != nil {
		return err
	}
	if err := s.HostReports.Logs(r.Context(), infraEnvID, hostID, model.LogsState(params.LogsState)); err != nil {
		return err
	}
	return noContent(w)
}
