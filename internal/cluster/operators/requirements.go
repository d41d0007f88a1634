package operators

import "slipway/internal/model"

// Added returns what the chosen operators add to the requirements of a host in a role.
func (p *Plan) Added(h *model.Host, role model.Role) model.Requirements {
	var sum model.Requirements
	for _, chosen := range p.cluster.OLMOperators {
		if o := byName[chosen.Name]; o != nil && p.chosen[o.Name] {
			n := p.needOf(o, h, role)
			sum.CPUCores += n.CPUCores
			sum.RAMMiB += n.RAMMiB
		}
	}
	return sum
}

// Requirements returns the requirements of a host in a role with the chosen operators; base are the requirements without them.
func (p *Plan) Requirements(base model.Requirements, h *model.Host, role model.Role) model.Requirements {
	if len(p.chosen) == 0 {
		return base
	}
	added := p.Added(h, role)
	base.CPUCores += added.CPUCores
	base.RAMMiB += added.RAMMiB
	return base
}

// Preflight returns what an operator would add to hosts of the cluster, whether it is chosen or not, as far as that does not depend on
// the host.
func (p *Plan) Preflight(o *Operator) (master, worker Need) {
	return p.needOf(o, nil, model.RoleMaster), p.needOf(o, nil, model.RoleWorker)
}

// needOf returns the addition of one operator; h is nil for hosts in general.
func (p *Plan) needOf(o *Operator, h *model.Host, role model.Role) Need {
	var n Need
	switch {
	case role == model.RoleArbiter: // runs etcd and nothing else
	case role != model.RoleMaster && role != model.RoleBootstrap:
		n = o.Needs.Worker
	case p.singleNode() && o.Needs.Single != nil:
		n = *o.Needs.Single
	default:
		n = o.Needs.Master
	}
	if o.adjust != nil {
		return o.adjust(p, h, role, n)
	}
	return n
}
