package validation

import (
	"slices"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// off are the rules that are not evaluated, and the reason.
type off struct {
	ids    []string
	except func(id string) bool // those that stay on whatever the list says; nil: none
	why    string
}

const (
	offByDeployment = "The validation is switched off in this deployment"
	offByCluster    = "The cluster ignores the validation"
)

// hostsOff returns the disabled rules of hosts: those the cluster ignores, or those the deployment disables as
// long as the user set none. c is nil for unbound hosts.
func hostsOff(c *model.Cluster, opts Options) off {
	if c == nil || c.IgnoredHostValidations == nil {
		return off{ids: opts.DisabledHost, why: offByDeployment}
	}
	never := func(id string) bool { return slices.Contains(neverIgnoredOfHosts, wire.HostValidationID(id)) }
	return off{ids: c.IgnoredHostValidations, except: never, why: offByCluster}
}

// clustersOff is hostsOff for the rules of the cluster itself.
func clustersOff(c *model.Cluster, opts Options) off {
	if c.IgnoredClusterValidations == nil {
		return off{ids: opts.DisabledCluster, why: offByDeployment}
	}
	never := func(id string) bool { return slices.Contains(neverIgnoredOfClusters, wire.ClusterValidationID(id)) }
	return off{ids: c.IgnoredClusterValidations, except: never, why: offByCluster}
}

func (o off) has(id string) bool {
	if len(o.ids) == 0 || o.except != nil && o.except(id) {
		return false
	}
	return slices.Contains(o.ids, IgnoreAll) || slices.Contains(o.ids, id)
}

func (o off) result(id, category string) model.ValidationResult {
	return model.ValidationResult{ID: id, Category: category, Status: model.ValidationDisabled, Message: o.why}
}

// evaluate appends the result of a rule: nothing if it is silent, and disabled, without evaluating it, if it is
// off.
func (o off) evaluate(out []model.ValidationResult, id, category string, check func() verdict) []model.ValidationResult {
	if o.has(id) {
		return append(out, o.result(id, category))
	}
	v := check()
	if v.silent {
		return out
	}
	return append(out, model.ValidationResult{ID: id, Category: category, Status: v.status, Message: v.message})
}
