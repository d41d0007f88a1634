package operators

import (
	"cmp"
	"slices"
	"strings"

	"slipway/internal/cluster/features"
	"slipway/internal/model"
)

// formerNames are names that clients still ask for operators by.
var formerNames = map[string]string{"ocs": "odf"}

// Resolve returns the operators of a cluster, sorted by name: the requested operators, the operators of the bundles, and the operators
// they depend on or bring. Operators that are unknown, that the cluster's version, architecture or platform does not support, or that
// exclude each other are a model.ErrInvalid that names them.
func Resolve(asked []model.OLMOperator, chosen []model.OperatorBundle, c *model.Cluster) ([]model.OLMOperator, error) {
	r := resolution{}
	for _, o := range asked {
		o.Name = cmp.Or(formerNames[o.Name], o.Name)
		if byName[o.Name] == nil {
			return nil, model.Invalidf("olm_operators: require one of %s, found %q", strings.Join(Names(), ", "), o.Name)
		}
		r.add(o.Name).Properties = o.Properties
	}
	for _, b := range chosen {
		if err := r.addBundle(b, c.SingleNode()); err != nil {
			return nil, err
		}
	}
	// The list grows while it is walked over: dependencies have dependencies.
	for i := 0; i < len(r); i++ {
		for _, name := range byName[r[i].Name].comesWith(c) {
			if !r.has(name) {
				r = append(r, model.OLMOperator{Name: name, DependencyOnly: true})
			}
		}
	}
	slices.SortFunc(r, func(a, b model.OLMOperator) int { return cmp.Compare(a.Name, b.Name) })
	return r, r.check(c)
}

// Asked lists the operators a user named, without those that bundles and dependencies added.
func Asked(list []model.OLMOperator) []model.OLMOperator {
	var out []model.OLMOperator
	for _, o := range list {
		if !o.DependencyOnly && !o.BundleOnly {
			out = append(out, model.OLMOperator{Name: o.Name, Properties: o.Properties})
		}
	}
	return out
}

type resolution []model.OLMOperator

func (r *resolution) has(name string) bool {
	return slices.ContainsFunc(*r, func(o model.OLMOperator) bool { return o.Name == name })
}

func (r *resolution) add(name string) *model.OLMOperator {
	if i := slices.IndexFunc(*r, func(o model.OLMOperator) bool { return o.Name == name }); i >= 0 {
		return &(*r)[i]
	}
	*r = append(*r, model.OLMOperator{Name: name})
	return &(*r)[len(*r)-1]
}

func (r *resolution) addBundle(chosen model.OperatorBundle, singleNode bool) error {
	b, err := FindBundle(chosen.ID, singleNode)
	if err != nil {
		ids := make([]string, len(bundles))
		for i := range bundles {
			ids[i] = bundles[i].ID
		}
		return model.Invalidf("operator_bundles: require one of %s, found %q", strings.Join(ids, ", "), chosen.ID)
	}
	for _, name := range chosen.Optional {
		if !slices.Contains(b.Optional, name) {
			return model.Invalidf("operator_bundles: require optional operators of %s among %q, found %q", b.ID, b.Optional, name)
		}
	}
	for _, name := range slices.Concat(b.Operators, chosen.Optional) {
		known := r.has(name)
		o := r.add(name)
		o.BundleOnly = !known || o.BundleOnly
		if !slices.Contains(o.Bundles, b.ID) {
			o.Bundles = append(o.Bundles, b.ID)
		}
	}
	return nil
}

func (r *resolution) check(c *model.Cluster) error {
	var features, brought []features.ID
	for _, o := range *r {
		if o.DependencyOnly {
			brought = append(brought, byName[o.Name].Feature.ID)
		} else {
			features = append(features, byName[o.Name].Feature.ID)
		}
	}
	features = append(features, brought...) // what the user named is refused first
	if err := Features.Check(c, features); err != nil {
		return model.Invalidf("olm_operators: %v", err)
	}
	return r.checkVirtualMachinesOnVolumeGroups(c)
}

// checkVirtualMachinesOnVolumeGroups holds the version from which virtual machines keep their disks in volume groups,
// which each of the two operators alone does not need.
func (r *resolution) checkVirtualMachinesOnVolumeGroups(c *model.Cluster) error {
	since := "4.15"
	if c.SingleNode() {
		since = "4.12"
	}
	if !r.has(cnv.Name) || !r.has(lvm.Name) || !NewPlan(c, nil).before(since) {
		return nil
	}
	return model.Invalidf("olm_operators: %s with %s: require OpenShift %s or newer, found %s",
		cnv.Title, lvm.Title, since, c.OpenShiftVersion)
}
