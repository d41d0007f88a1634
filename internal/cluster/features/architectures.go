package features

import "slipway/internal/model"

// architecture is a target of release images; versions before since lack it.
type architecture struct {
	id      ArchitectureID
	name    string // of the limits
	since   string // empty: every version
	preview string // versions before this one have it as a preview; empty: none
	level   Level
}

var architectures = []architecture{
	{id: ArchitectureX8664, name: model.X8664, level: LevelSupported},
	{id: ArchitectureARM64, name: model.ARM64, since: "4.10", level: LevelSupported},
	{id: ArchitecturePPC64LE, name: model.PPC64LE, since: "4.12", preview: "4.13", level: LevelSupported},
	{id: ArchitectureS390X, name: model.S390X, since: "4.12", preview: "4.13", level: LevelSupported},
	{id: ArchitectureMulti, name: model.Multi, since: "4.11", level: LevelTechPreview},
}

// Architectures returns how well an OpenShift version supports each architecture. The error is a
// model.ErrInvalid.
func Architectures(version string) (map[ArchitectureID]Level, error) {
	in, err := Setting{Version: version}.read()
	if err != nil {
		return nil, err
	}
	out := make(map[ArchitectureID]Level, len(architectures))
	for _, a := range architectures {
		out[a.id] = a.levelIn(in)
	}
	return out, nil
}

func (a *architecture) levelIn(in setting) Level {
	switch {
	case a.since != "" && in.before(a.since):
		return LevelUnavailable
	case a.preview != "" && in.before(a.preview):
		return LevelTechPreview
	}
	return a.level
}

func architectureIn(name string, in setting) Level {
	for i := range architectures {
		if architectures[i].name == name {
			return architectures[i].levelIn(in)
		}
	}
	return LevelUnsupported
}
