package operators

import (
	"github.com/Masterminds/semver/v3"

	"slipway/internal/cluster/features"
	"slipway/internal/model"
)

// Options are the settings of a deployment that rules of operators depend on.
type Options struct {
	// NVIDIARequireGPU and AMDRequireGPU refuse the GPU operators in clusters where no host has reported such a
	// GPU.
	NVIDIARequireGPU, AMDRequireGPU bool
}

// DefaultOptions returns the options of a deployment that sets none.
func DefaultOptions() Options { return Options{NVIDIARequireGPU: true, AMDRequireGPU: true} }

// Plan is a cluster as the rules of operators see it. It is built once a refresh, so that the rules of a host
// need not walk over all others; it is read-only afterwards and may be shared between goroutines.
type Plan struct {
	cluster *model.Cluster
	hosts   []*model.Host
	options Options
	chosen  map[string]bool
	// support is how well each feature does in the setting of the cluster, by id, and
	// uses are the features the cluster has; both only once operators are chosen.
	support map[features.ID]features.Support
	uses    []features.ID
	version *semver.Version // of OpenShift; nil: not known
	// workers counts hosts by the role they have or are to get, askedWorkers the hosts that a user made workers or arbiters, undecided the
	// hosts whose role is left to the service, and waiting the hosts without an inventory.
	workers, askedWorkers, askedArbiters, undecided, waiting int
}

// NewPlan indexes a cluster and its hosts. Operators of an existing cluster are not installed any more: none counts as chosen.
func NewPlan(c *model.Cluster, hosts []*model.Host) *Plan {
	p := &Plan{cluster: c, hosts: hosts, options: DefaultOptions()}
	if v, err := semver.NewVersion(c.OpenShiftVersion); err == nil {
		p.version = semver.New(v.Major(), v.Minor(), 0, "", "")
	}
	if c.DayTwo() || len(c.OLMOperators) == 0 {
		return p
	}
	p.chosen = make(map[string]bool, len(c.OLMOperators))
	for _, o := range c.OLMOperators {
		p.chosen[o.Name] = true
	}
	p.uses = Features.Used(c, hosts, nil)
	p.support = supportIn(features.SettingOf(c))
	for _, h := range hosts {
		p.count(h)
	}
	return p
}

// With returns the plan of a deployment with other options than the default ones.
func (p *Plan) With(opts Options) *Plan {
	out := *p
	out.options = opts
	return &out
}

func (p *Plan) count(h *model.Host) {
	if !hasInventory(h) {
		p.waiting++
	}
	switch h.Role {
	case model.RoleAutoAssign:
		p.undecided++
	case model.RoleWorker:
		p.askedWorkers++
	case model.RoleArbiter:
		p.askedArbiters++
	}
	if h.EffectiveRole() == model.RoleWorker {
		p.workers++
	}
}

// supportIn returns the support of features in a setting. It is empty for a setting that cannot be read: an unknown setting limits
// nothing.
func supportIn(s features.Setting) map[features.ID]features.Support {
	list, err := Features.Detailed(s)
	if err != nil {
		return nil
	}
	out := make(map[features.ID]features.Support, len(list))
	for _, f := range list {
		out[f.ID] = f
	}
	return out
}

// Chosen reports whether an operator is installed with the cluster.
func (p *Plan) Chosen(name string) bool { return p.chosen[name] }

func (p *Plan) singleNode() bool { return p.cluster.SingleNode() && !p.cluster.DayTwo() }

// before reports whether the cluster's OpenShift is older than a minor version.
func (p *Plan) before(minor string) bool {
	return p.version != nil && p.version.LessThan(semver.MustParse(minor))
}

// schedulableMasters reports whether the control plane takes the work of users: on request, and where there are not two hosts besides
// it and its arbiter. Suggested roles do not count: the requirements of a role would depend on its hosts, and suggestions would never
// settle.
func (p *Plan) schedulableMasters() bool {
	return p.cluster.SchedulableMasters || len(p.hosts)-p.arbiters() < p.cluster.ControlPlaneCount+workersToFreeMasters
}

// arbiters counts the arbiters that there are or are to be: two control plane hosts get one, if a host is free for it.
func (p *Plan) arbiters() int {
	if p.askedArbiters == 0 && p.cluster.ControlPlaneCount == arbiterControlPlanes && p.undecided > 0 {
		return 1
	}
	return p.askedArbiters
}

// arbiterControlPlanes is the size of a control plane that an arbiter completes.
const arbiterControlPlanes = 2

const workersToFreeMasters = 2

// takesWork reports whether hosts of a role run the work of users.
func (p *Plan) takesWork(role model.Role) bool {
	switch role {
	case model.RoleArbiter:
		return false
	case model.RoleMaster, model.RoleBootstrap:
		return p.singleNode() || p.schedulableMasters()
	}
	return true
}
