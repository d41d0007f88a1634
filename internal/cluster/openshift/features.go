package openshift

import "slipway/internal/model"

// row is a feature. Its limits are held in order and the first that fits decides how well
// the feature is supported; where none fits it is, at the row's level.
type row struct {
	id       FeatureID
	name     string // as users read it
	operator string // name of the operator; empty for other features
	level    Level  // empty: supported
	limits   []limit
	excludes []exclusion
	needs    []FeatureID // operators an operator brings with it
	used     func(d definition) bool
}

// limit lowers the level of a feature in some settings; an empty field fits every setting.
type limit struct {
	from, before  string   // OpenShift minor versions, the first included, the second not
	architectures []string // as architectureOf names them
	platforms     []string // platform types, or oci for that external platform
	level         Level
	reason        Reason // of what cannot be used
}

// exclusion lists features that cannot be used together with one, in versions before one.
type exclusion struct {
	before   string // empty: every version
	features []FeatureID
}

// definition is the input of FeaturesOf; each part may be nil.
type definition struct {
	cluster *model.Cluster
	hosts   []*model.Host
	env     *model.InfraEnv
}

func since(version string) limit {
	return limit{before: version, level: LevelUnavailable, reason: ReasonVersion}
}

func until(version string) limit {
	return limit{from: version, level: LevelUnavailable, reason: ReasonVersion}
}

func notOn(architectures ...string) limit {
	return limit{architectures: architectures, level: LevelUnavailable, reason: ReasonArchitecture}
}

func notFor(platforms ...string) limit {
	return limit{platforms: platforms, level: LevelUnavailable, reason: ReasonPlatform}
}

// only makes the limit of a feature's level between two minor versions, from included.
func only(level Level, from, before string) limit {
	return limit{from: from, before: before, level: level}
}

func never(features ...FeatureID) []exclusion { return []exclusion{{features: features}} }

// features is the table: facts of openshift/assisted-service (internal/featuresupport) and of recorded replies, completed for versions,
// architectures and platforms that those do not show from the behaviour of the recorded service.
var features = append(append(append(append([]row{}, clusterFeatures...), networkFeatures...), platformFeatures...), operatorFeatures...)

var byID = func() map[FeatureID]*row {
	out := make(map[FeatureID]*row, len(features))
	for i := range features {
		out[features[i].id] = &features[i]
	}
	return out
}()

// FeatureName returns the name of a feature as users read it; the id of an unknown one.
func FeatureName(id FeatureID) string {
	if r := byID[id]; r != nil {
		return r.name
	}
	return string(id)
}
