package release

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"slipway/internal/hostconfig/manifests"
	"slipway/internal/model"
)

// manifestPath is where a manifest can be: folder, then name.
var manifestPath = regexp.MustCompile(`^(manifests|openshift)/([^/\\]+)$`)

// sortedManifests are manifests by how they are applied.
type sortedManifests struct {
	files   map[string][]byte // added, one object each
	patches []patch           // in the order they are applied
}

// sortManifests separates patches from files, and splits files of several documents:
// the installer reads only the first.
func sortManifests(all map[string][]byte) (sortedManifests, error) {
	sorted := sortedManifests{files: map[string][]byte{}}
	// openshift/ comes before manifests/, each in the order of its names.
	paths := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		if path.Dir(a) != path.Dir(b) {
			return strings.Compare(path.Dir(b), path.Dir(a))
		}
		return strings.Compare(a, b)
	})
	for _, p := range paths {
		match := manifestPath.FindStringSubmatch(p)
		if match == nil || strings.HasPrefix(match[2], ".") {
			return sorted, model.Invalidf("require a manifest in manifests/ or openshift/, found %q", p)
		}
		if manifests.IsPatch(match[2]) {
			made, err := newPatch(match[1], match[2], all[p])
			if err != nil {
				return sorted, err
			}
			sorted.patches = append(sorted.patches, made)
			continue
		}
		if err := splitDocuments(p, all[p], sorted.files); err != nil {
			return sorted, err
		}
	}
	return sorted, nil
}

// splitDocuments adds the documents of a file to files, under the file's own name when
// there is one, else numbered before the extension.
func splitDocuments(name string, data []byte, files map[string][]byte) error {
	documents, err := manifests.Documents(name, data)
	if err != nil {
		return err
	}
	if len(documents) == 1 {
		files[name] = documents[0]
		return nil
	}
	base, extension := strings.TrimSuffix(name, path.Ext(name)), path.Ext(name)
	for i, d := range documents {
		files[fmt.Sprintf("%s-%02d%s", base, i, extension)] = d
	}
	return nil
}

// ownMachines are the manifests of machines that the platform would make. They are removed on platforms whose
// machines exist already: with the placeholders of the install-config none could be made, and the operator of the
// control plane machine set would wait for them (OpenShift documentation, "Installing a cluster on vSphere with
// user-provisioned infrastructure", manifests).
var (
	ownMachines = []string{
		"openshift/*_openshift-cluster-api_master-machines-*.yaml",
		"openshift/*_openshift-cluster-api_worker-machineset-*.yaml",
		"openshift/*_openshift-machine-api_master-control-plane-machine-set*.yaml",
	}
	virtualPlatforms = []string{"vsphere", "nutanix"}
)

// removeMachines removes what the installer generated for machines that it would have made itself.
func (g *generation) removeMachines() error {
	if !slices.ContainsFunc(virtualPlatforms, func(name string) bool { _, ok := g.facts.Platform[name]; return ok }) {
		return nil
	}
	for _, pattern := range ownMachines {
		found, err := g.assets.glob(pattern)
		if err != nil {
			return fmt.Errorf("find manifests of machines: %w", err)
		}
		for _, file := range found {
			if err := g.assets.remove(file); err != nil {
				return fmt.Errorf("remove manifest of a machine: %w", err)
			}
		}
	}
	return nil
}

// changeManifests adds manifests to the generated ones and applies patches.
func (g *generation) changeManifests() error {
	for name, data := range g.manifests.files {
		if err := g.assets.write(name, data); err != nil {
			return fmt.Errorf("add manifest: %w", err)
		}
	}
	for _, p := range g.manifests.patches {
		if err := g.apply(p); err != nil {
			return err
		}
	}
	if g.facts.oneWorker() && !g.in.SingleNode {
		p, err := newPatch(manifests.FolderManifests, "cluster-infrastructure-02-config.yml.patch_one_worker", []byte(oneWorkerPatch))
		if err != nil {
			return err
		}
		return g.apply(p)
	}
	return nil
}
