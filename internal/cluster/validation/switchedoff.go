package validation

import (
	"slices"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// off are the rules that do not count.
type off struct {
	ids    []string
	except func(id string) bool // rules that count even when listed; nil: none
	// ignored rules are evaluated all the same, so that users see the ignored failures; other rules are disabled.
	ignored bool
}

// hostsOff returns the rules of hosts that do not count: the rules that the cluster ignores, or that the deployment disables as long as
// the user set none. c is nil for unbound hosts.
func hostsOff(c *model.Cluster, opts Options) off {
	if c == nil || c.IgnoredHostValidations == nil {
		return off{ids: opts.DisabledHost}
	}
	never := func(id string) bool { return slices.Contains(neverIgnoredOfHosts, wire.HostValidationID(id)) }
	return off{ids: c.IgnoredHostValidations, except: never, ignored: true}
}

// clustersOff works like hostsOff for the rules of the cluster itself.
func clustersOff(c *model.Cluster, opts Options) off {
	if c.IgnoredClusterValidations == nil {
		return off{ids: opts.DisabledCluster}
	}
	never := func(id string) bool { return slices.Contains(neverIgnoredOfClusters, wire.ClusterValidationID(id)) }
	return off{ids: c.IgnoredClusterValidations, except: never, ignored: true}
}

func (o off) has(id string) bool {
	if len(o.ids) == 0 || o.except != nil && o.except(id) {
		return false
	}
	return slices.Contains(o.ids, IgnoreAll) || slices.Contains(o.ids, id)
}

// evaluate appends the result of a rule: no result if it is silent, and a disabled one, without evaluating it, if it is off and not
// only ignored.
func (o off) evaluate(out []model.ValidationResult, id, category string, check func() verdict) []model.ValidationResult {
	isOff := o.has(id)
	if isOff && !o.ignored {
		return append(out, model.ValidationResult{
			ID: id, Category: category, Status: model.ValidationDisabled, Message: "The validation is switched off in this deployment",
		})
	}
	v := check()
	if v.silent {
		return out
	}
	if isOff && v.status != model.ValidationSuccess {
		v.message += " (the cluster ignores this)"
	}
	return append(out, model.ValidationResult{ID: id, Category: category, Status: v.status, Message: v.message, Ignored: isOff})
}
