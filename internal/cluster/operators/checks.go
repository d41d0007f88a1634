package operators

import (
	"fmt"
	"slices"

	"slipway/internal/cluster/features"
	"slipway/internal/model"
)

// Result is the result of a rule for a host or a cluster.
type Result struct {
	Status  model.ValidationStatus
	Message string
}

func success(format string, args ...any) Result {
	return Result{model.ValidationSuccess, fmt.Sprintf(format, args...)}
}

func failure(format string, args ...any) Result {
	return Result{model.ValidationFailure, fmt.Sprintf(format, args...)}
}

func pending(format string, args ...any) Result {
	return Result{model.ValidationPending, fmt.Sprintf(format, args...)}
}

// notChosen are the results of the operators that a cluster does without, made once:
// most clusters do without most.
var notChosen = func() map[string]Result {
	out := make(map[string]Result, len(catalogue))
	for i := range catalogue {
		out[catalogue[i].Name] = success("%s is not installed with this cluster: its validation is disabled", catalogue[i].Title)
	}
	return out
}()

// ValidateHost evaluates whether a host can run its part of an operator.
func (p *Plan) ValidateHost(o *Operator, h *model.Host) Result {
	if !p.chosen[o.Name] {
		return notChosen[o.Name]
	}
	if !hasInventory(h) {
		if o.host == nil && !o.ownNeed {
			return success("%s requires nothing of this host", o.Title)
		}
		return pending("%s: the host has not sent its inventory yet", o.Title)
	}
	if r, ok := p.architecture(o, h); !ok {
		return r
	}
	if r, ok := p.ownNeed(o, h); !ok {
		return r
	}
	if o.host != nil {
		return o.host(p, h)
	}
	return success("The host meets what %s requires", o.Title)
}

// ownNeed compares a host with an operator's own addition, where that is stricter than the sum over all operators: to the byte, and
// without the memory that firmware and kernel keep.
func (p *Plan) ownNeed(o *Operator, h *model.Host) (Result, bool) {
	if !o.ownNeed {
		return Result{}, true
	}
	need := p.needOf(o, h, h.EffectiveRole())
	if found := h.Inventory.CPU.Count; found < need.CPUCores {
		return failure("%s: require %d CPU cores for it alone, found %d", o.Title, need.CPUCores, found), false
	}
	if found := int64(h.Inventory.Memory.UsableBytes); found < need.RAMMiB*mib {
		return failure("%s: require %d MiB of usable memory for it alone, found %d MiB", o.Title, need.RAMMiB, found/mib), false
	}
	return Result{}, true
}

// architecture checks the host's own in a cluster of several architectures.
func (p *Plan) architecture(o *Operator, h *model.Host) (Result, bool) {
	s := features.SettingOf(p.cluster)
	found := h.Inventory.CPU.Architecture
	if found == "" || s.Architecture != model.Multi {
		return Result{}, true
	}
	s.Architecture = found
	list, err := Features.Detailed(s)
	i := slices.IndexFunc(list, func(f features.Support) bool { return f.ID == o.Feature.ID })
	if err != nil || i < 0 || list[i].Reason != features.ReasonArchitecture {
		return Result{}, true
	}
	return failure("%s: require a host of another CPU architecture, found %s", o.Title, found), false
}

// ValidateCluster evaluates whether an operator can be installed with the cluster.
func (p *Plan) ValidateCluster(o *Operator) Result {
	if !p.chosen[o.Name] {
		return notChosen[o.Name]
	}
	if f := p.support[o.Feature.ID]; f.Reason != "" {
		if err := Features.CheckIn(features.SettingOf(p.cluster), []features.ID{o.Feature.ID}); err != nil {
			return failure("%v", err)
		}
	}
	for _, d := range o.Dependencies {
		if !p.chosen[d] {
			return failure("%s: require %s with it, found it left out", o.Title, byName[d].Title)
		}
	}
	for _, used := range p.uses {
		if slices.Contains(p.support[o.Feature.ID].Incompatibilities, used) || slices.Contains(p.support[used].Incompatibilities, o.Feature.ID) {
			return failure("%s and %s exclude each other: require at most one of them, found both", o.Title, Features.Name(used))
		}
	}
	if o.cluster != nil {
		return o.cluster(p)
	}
	return success("The cluster meets what %s requires", o.Title)
}
