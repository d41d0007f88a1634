package features

import (
	"cmp"
	"slices"
	"strings"

	"slipway/internal/model"
)

// Used lists the features that a definition uses, in the order of the table. Each
// part may be nil.
func (t *Table) Used(c *model.Cluster, hosts []*model.Host, env *model.InfraEnv) []ID {
	d := definition{cluster: c, hosts: hosts, env: env}
	if c == nil {
		d.cluster = &model.Cluster{Kind: model.KindAddHostsCluster} // uses nothing
	}
	if env == nil {
		d.env = &model.InfraEnv{}
	}
	var used []ID
	for i := range t.rows {
		if r := &t.rows[i]; r.used != nil && r.used(d) {
			used = append(used, r.ID)
		}
	}
	return used
}

// Check refuses features that the version, architecture or platform of a cluster does not
// have, and pairs of features that exclude each other, with a model.ErrInvalid that names
// them. The cluster gives the setting; features come from Used.
func (t *Table) Check(c *model.Cluster, features []ID) error {
	return t.CheckIn(SettingOf(c), features)
}

// SettingOf returns the setting of a cluster.
func SettingOf(c *model.Cluster) Setting {
	return Setting{
		Version: c.OpenShiftVersion, Architecture: c.CPUArchitecture,
		Platform: c.Platform.Type, ExternalName: c.Platform.ExternalName,
	}
}

// base has no operators.
var base = NewTable()

// CheckArbiter returns an error where a cluster cannot have arbiters: by its version, its platform, or as it is a single node. A
// cluster that hosts are added to is not checked.
func CheckArbiter(c *model.Cluster) error {
	if c.DayTwo() {
		return nil
	}
	if c.SingleNode() {
		return model.Invalidf("an arbiter requires a control plane of more than one node, found a single node")
	}
	features := []ID{TNA}
	if c.Platform.Type == none {
		features = append(features, NonePlatform)
	}
	return base.Check(c, features)
}

// CheckIn works like Check in any setting, such as the setting of an InfraEnv without a cluster.
func (t *Table) CheckIn(s Setting, features []ID) error {
	in, err := s.read()
	if err != nil {
		return err
	}
	if !architectureIn(in.architecture, in).usable() {
		return model.Invalidf("cpu_architecture: require another one with OpenShift %s, found %s", s.Version, s.Architecture)
	}
	anywhere := in
	anywhere.platforms = nil // a pair names its platform better than a limit does
	for _, id := range features {
		if err := t.checkLevel(id, s, anywhere); err != nil {
			return err
		}
	}
	if err := t.checkPairs(in, features); err != nil {
		return err
	}
	for _, id := range features {
		if err := t.checkLevel(id, s, in); err != nil {
			return err
		}
	}
	return nil
}

// checkPairs refuses two features of which one lists the other.
func (t *Table) checkPairs(in setting, features []ID) error {
	excludes := func(one, other ID) bool {
		r := t.byID[one]
		return r != nil && slices.Contains(r.exclusionsIn(in), other)
	}
	for i, id := range features {
		for _, other := range features[i+1:] {
			if excludes(id, other) || excludes(other, id) {
				return model.Invalidf("%s and %s exclude each other: require at most one of them, found both", t.title(id), t.title(other))
			}
		}
	}
	return nil
}

func (t *Table) checkLevel(id ID, s Setting, in setting) error {
	r := t.byID[id]
	if r == nil {
		return nil
	}
	level, l := r.levelIn(in)
	if level.usable() {
		return nil
	}
	switch l.Reason {
	case ReasonVersion:
		return model.Invalidf("%s: require OpenShift %s, found %s", t.title(id), l.versions(), cmp.Or(s.Version, "the newest"))
	case ReasonArchitecture:
		return model.Invalidf(
			"%s: require another CPU architecture with OpenShift %s, found %s",
			t.title(id),
			cmp.Or(s.Version, "of any version"),
			in.architecture,
		)
	default:
		return model.Invalidf("%s: require another platform, found %s", t.title(id), strings.Join(in.platforms, " "))
	}
}

// versions describes the versions a limit leaves.
func (l *Limit) versions() string {
	if l.From != "" {
		return "before " + l.From
	}
	return l.Before + " or newer"
}
