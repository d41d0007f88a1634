package discovery

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"slipway/internal/cluster/duesteps"
	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// ask makes the arguments of the steps that are due and records that they were asked. Steps that another poll of the host has asked
// meanwhile are left out.
func (p *poll) ask(ctx context.Context, v *store.PollView, due []duesteps.Step) ([]wire.Step, error) {
	h, err := p.store.Host(ctx, p.in.InfraEnvID, p.in.HostID)
	if err != nil {
		return nil, err
	}
	in, err := p.argsInput(ctx, v, h, due)
	if err != nil {
		return nil, err
	}
	made := make(map[model.Fact]prepareResult, len(due))
	for _, step := range due {
		args, err := duesteps.Args(step.Type, in)
		if err != nil && !errors.Is(err, duesteps.ErrSkip) {
			p.log.Warn("step left out", "host", h.ID, "error", err)
		}
		made[step.Fact] = prepareResult{args, err}
	}
	var out []wire.Step
	_, err = p.store.UpdateHost(ctx, p.in.InfraEnvID, p.in.HostID, func(h *model.Host, t *store.Tx) error {
		out = nil
		if p.in.AgentVersion != "" && h.DiscoveryAgentVersion != p.in.AgentVersion {
			h.DiscoveryAgentVersion = p.in.AgentVersion
			t.Refresh(h.ClusterID, h.InfraEnvID)
		}
		if h.Facts == nil {
			h.Facts = model.Facts{}
		}
		for _, step := range p.due.Steps(h.ClusterID, p.due.View(h, clusterOf(v), p.in.AgentVersion, t.Now())) {
			if result, ok := made[step.Fact]; ok {
				asked := p.record(h, step, result, t.Now())
				p.upgradeStarted(h, asked, t)
				out = append(out, asked...)
			}
		}
		return nil
	})
	return out, err
}

// prepareResult is the arguments of a step, or why there are none.
type prepareResult struct {
	args []string
	err  error
}

// record notes a step in the facts of its host. A step whose arguments could not be made is tried again like a step without an answer.
func (p *poll) record(h *model.Host, step duesteps.Step, result prepareResult, now time.Time) []wire.Step {
	before := h.Facts[step.Fact]
	asked := now.Add(-headStart(step.Type, result.args))
	if !before.AnsweredAt.Before(asked) {
		before.AnsweredAt = asked.Add(-time.Millisecond) // that answer was to another step
	}
	switch {
	case errors.Is(result.err, duesteps.ErrSkip):
		h.Facts[step.Fact] = duesteps.Skipped(before, step, asked)
		return nil
	case result.err != nil:
		h.Facts[step.Fact] = duesteps.Asked(before, step, "", now)
		return nil
	}
	id := duesteps.StepID(step.Type, rand.Uint32())
	h.Facts[step.Fact] = duesteps.Asked(before, step, id, asked)
	return []wire.Step{{StepType: step.Type, StepID: id, Args: result.args}}
}

const (
	// checkSpacing is the pause the table of steps leaves between two connectivity checks, meant for clusters in which a check is
	// expensive; checkSpacingPerHost is the part of it for each host of the cluster.
	checkSpacing        = time.Minute
	checkSpacingPerHost = 200 * time.Millisecond
)

// headStart returns how much earlier a step counts as asked, so that hosts which come up one by one soon know all others: in a small
// cluster a check is cheap, and a skipped check cost nothing.
func headStart(step wire.StepType, args []string) time.Duration {
	if step != wire.StepTypeConnectivityCheck {
		return 0
	}
	hosts := 0
	if len(args) > 0 {
		hosts = strings.Count(args[0], `"host_id"`)
	}
	return max(checkSpacing-time.Duration(hosts)*checkSpacingPerHost, 0)
}

// argsInput loads the inputs of the due steps' arguments.
func (p *poll) argsInput(ctx context.Context, v *store.PollView, h *model.Host, due []duesteps.Step) (in duesteps.ArgsInput, err error) {
	in = duesteps.ArgsInput{
		Host: h, Images: duesteps.Images{Agent: p.options.AgentImage}, MaxInventoryBytes: p.options.MaxInventoryBytes,
		DiskCheck: p.timeouts.DiskCheck, ImageAvailability: p.timeouts.ImageAvailability,
	}
	asks := func(t wire.StepType) bool {
		return slices.ContainsFunc(due, func(step duesteps.Step) bool { return step.Type == t })
	}
	if asks(wire.StepTypeUpgradeAgent) && h.AgentSteps == model.FineSteps {
		if in.AgentUpgrade, err = p.upgrade(); err != nil {
			return in, err
		}
	}
	needs := needsOf(due)
	if needs.InfraEnv {
		if in.InfraEnv, err = p.store.InfraEnvOf(ctx, h); err != nil {
			return in, err
		}
	}
	if h.ClusterID == nil || !needs.Cluster {
		return in, nil
	}
	if in.Cluster, err = p.store.Cluster(ctx, *h.ClusterID); err != nil {
		return in, err
	}
	if !in.Cluster.VIPDHCPAllocation {
		p.due.LeasesNothing(in.Cluster.ID, in.Cluster.NetworkGeneration)
	}
	if asks(wire.StepTypeConnectivityCheck) {
		if in.Remotes, err = p.due.Remotes(ctx, *h.ClusterID, v.HostsGeneration); err != nil {
			return in, err
		}
	}
	if asks(wire.StepTypeLogsGather) && h.Bootstrap {
		in.Hosts, err = p.store.ClusterHosts(ctx, *h.ClusterID)
	}
	return in, err
}

// needsOf returns the inputs of the arguments of all the steps.
func needsOf(due []duesteps.Step) steps.Needs {
	var all steps.Needs
	for _, step := range due {
		row, _ := steps.Of(step.Type)
		all.InfraEnv = all.InfraEnv || row.Needs.InfraEnv
		all.Cluster = all.Cluster || row.Needs.Cluster
	}
	return all
}
