package manifests

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// chrony configures every node with the time sources of the cluster and of its hosts' InfraEnvs. If none are
// set, it uses the sources that hosts keep time by: the image they install may have other ones than the image
// they were discovered with.
func chrony(in Input) ([]File, error) {
	sources := timeSources(in)
	if len(sources) == 0 {
		return nil, nil
	}
	content, err := fill("chrony.conf", sources)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, role := range in.roles() {
		name := fmt.Sprintf("50-%ss-chrony-configuration", role)
		m := machineConfig{name: name, role: role}
		m.addFile("/etc/chrony.conf", modeFile, content)
		f, err := m.file(name + ".yaml")
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

func timeSources(in Input) []string {
	var sources []string
	add := func(source string) {
		source = strings.TrimSpace(source)
		// A source is one word of a line: anything else could be a directive of its own.
		if source != "" && !strings.ContainsFunc(source, unicode.IsSpace) && !slices.Contains(sources, source) {
			sources = append(sources, source)
		}
	}
	for _, s := range in.Cluster.NTPSources {
		add(s)
	}
	if in.Cluster.NTPSourcesOnly {
		return sources
	}
	for _, e := range in.InfraEnvs {
		for _, s := range e.NTPSources {
			add(s)
		}
	}
	if len(sources) > 0 {
		return sources
	}
	for _, h := range in.Hosts {
		for _, s := range h.NTPSources {
			if s.SourceState == wire.SourceStateSynced || s.SourceState == wire.SourceStateCombined {
				add(s.SourceName)
			}
		}
	}
	slices.Sort(sources)
	return sources
}

// schedulableMasters allows user workloads on the control plane where the user requests it, or where there are
// too few workers.
func schedulableMasters(in Input) ([]File, error) {
	workers := len(in.ofRole(model.RoleWorker))
	if !in.Cluster.SchedulableMasters && workers >= workersToFreeMasters {
		return nil, nil
	}
	content, err := fill("schedulable-masters.patch", nil)
	return []File{{Folder: FolderManifests, Name: "cluster-scheduler-02-config.yml.patch_schedulable_masters", Content: content}}, err
}

// workersToFreeMasters is the number of workers from which the control plane runs no user workloads
// (schedulable_masters_forced_true of the API).
const workersToFreeMasters = 2
