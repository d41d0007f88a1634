package manifests

import (
	"maps"
	"path"
	"slices"

	"slipway/internal/hostconfig/manifests/nodeconfig"
	"slipway/internal/model"
)

// CheckTogether returns an error when the machine config controller cannot read files, by folder and name, once patches are
// applied to them, when an object has to have a namespace and has none, or when objects contradict each other. Patches of files that
// the installer makes are left out: they are checked when they are applied.
func CheckTogether(files map[string][]byte) error {
	changed := maps.Clone(files)
	names := slices.Sorted(maps.Keys(files))
	for _, name := range names {
		if IsPatch(path.Base(name)) {
			delete(changed, name)
		}
	}
	for _, folder := range []string{FolderOpenShift, FolderManifests} { // the order in which patches are applied
		for _, name := range names {
			if path.Dir(name) != folder || !IsPatch(path.Base(name)) {
				continue
			}
			if err := patchOne(path.Base(name), folder, files[name], changed); err != nil {
				return err
			}
		}
	}
	var objects [][]byte
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		if err := CheckObjects(path.Base(name), changed[name]); err != nil {
			return err
		}
		documents, err := Documents(path.Base(name), changed[name])
		if err != nil {
			return err
		}
		for i, d := range documents {
			if err := checkNamespace(d); err != nil {
				return model.Invalidf("document %d of %s: %s", i+1, path.Base(name), err)
			}
		}
		objects = append(objects, documents...)
	}
	if err := nodeconfig.CheckTogether(objects); err != nil {
		return model.Invalidf("the machine config controller cannot read the manifests together: %s", err)
	}
	return nil
}

// patchOne applies a patch to the file that it names, if that is among files.
func patchOne(name, folder string, content []byte, files map[string][]byte) error {
	p, err := ParsePatch(name, content)
	if err != nil {
		return err
	}
	other := FolderManifests
	if folder == FolderManifests {
		other = FolderOpenShift
	}
	for _, target := range []string{folder + "/" + p.Target, other + "/" + p.Target} {
		before, found := files[target]
		if !found {
			continue
		}
		after, err := p.Apply(before)
		if err != nil {
			return model.Invalidf("apply patch %s: %s", name, err)
		}
		files[target] = after
		return nil
	}
	return nil
}
