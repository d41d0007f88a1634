package features

import (
	"slices"

	"slipway/internal/model"
)

// Row is a feature. The first of its limits that fits decides how well the feature is supported; where none fits it is, at the row's
// level.
type Row struct {
	ID       ID
	Name     string // as users read it
	Operator string // name of the operator; empty for other features
	Level    Level  // empty: supported
	Limits   []Limit
	Excludes []Exclusion
	Needs    []ID // operators an operator brings with it
	used     func(d definition) bool
}

// Limit lowers the level of a feature in some settings; an empty field fits every setting.
type Limit struct {
	From, Before  string   // OpenShift minor versions, the first included, the second not
	Architectures []string // as model.Architecture names them
	Platforms     []ID
	Level         Level
	Reason        Reason // of what cannot be used
}

// Exclusion lists features that cannot be used together with one, in versions before one.
type Exclusion struct {
	Before   string // empty: every version
	Features []ID
}

// definition is the input of Used; each part may be nil.
type definition struct {
	cluster *model.Cluster
	hosts   []*model.Host
	env     *model.InfraEnv
}

// Since makes the limit of a feature that versions before one lack.
func Since(version string) Limit {
	return Limit{Before: version, Level: LevelUnavailable, Reason: ReasonVersion}
}

// Until makes the limit of a feature that a version and later ones lack.
func Until(version string) Limit {
	return Limit{From: version, Level: LevelUnavailable, Reason: ReasonVersion}
}

// NotOn makes the limit of a feature that architectures lack.
func NotOn(architectures ...string) Limit {
	return Limit{Architectures: architectures, Level: LevelUnavailable, Reason: ReasonArchitecture}
}

// NotFor makes the limit of a feature that platforms lack.
func NotFor(platforms ...ID) Limit {
	return Limit{Platforms: platforms, Level: LevelUnavailable, Reason: ReasonPlatform}
}

// Only makes the limit of a feature's level between two minor versions, from included.
func Only(level Level, from, before string) Limit {
	return Limit{From: from, Before: before, Level: level}
}

// Never makes the exclusion of features in every version.
func Never(features ...ID) []Exclusion { return []Exclusion{{Features: features}} }

// Table evaluates features: facts of openshift/assisted-service (internal/featuresupport) and of recorded replies, completed for
// versions, architectures and platforms that those do not show from the behaviour of the recorded service.
type Table struct {
	rows []Row
	byID map[ID]*Row
}

// NewTable returns the table of the features of clusters, networks, platforms and discovery images, then the operators. A cluster uses
// an operator when it is chosen.
func NewTable(operators ...Row) *Table {
	t := &Table{rows: slices.Concat(clusterFeatures, networkFeatures, platformFeatures, operators)}
	t.byID = make(map[ID]*Row, len(t.rows))
	for i := range t.rows {
		r := &t.rows[i]
		t.byID[r.ID] = r
		if name := r.Operator; name != "" {
			r.used = func(d definition) bool {
				return slices.ContainsFunc(d.cluster.OLMOperators, func(o model.OLMOperator) bool { return o.Name == name })
			}
		}
	}
	return t
}

// Name returns the name of a feature as users read it; the id of an unknown one.
func (t *Table) Name(id ID) string {
	if r := t.byID[id]; r != nil {
		return r.Name
	}
	return string(id)
}

func (t *Table) title(id ID) string { return t.Name(id) + " (" + string(id) + ")" }
