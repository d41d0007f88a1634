package standin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// manifestEndings are the files of the folders that the program reads; others stay where they are.
var manifestEndings = []string{".yaml", ".yml", ".json"}

// consumeManifests reads the folders, whatever a user has put there, and removes what it read. Sub-folders are
// not looked into (openshift/installer, pkg/asset/manifests/operators.go, openshift.go).
func (r *run) consumeManifests() (files, error) {
	all := files{}
	names := map[string]string{} // by identity of the object
	for _, folder := range folders {
		entries, err := os.ReadDir(filepath.Join(r.dir, folder))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("load %s: %w", folder, err)
		}
		r.log.Info(fmt.Sprintf("Consuming %s from target directory", folder))
		for _, e := range entries {
			path := filepath.Join(folder, e.Name())
			if e.IsDir() || !slices.Contains(manifestEndings, filepath.Ext(path)) {
				continue
			}
			data, err := os.ReadFile(filepath.Join(r.dir, path))
			if err != nil {
				return nil, fmt.Errorf("load manifest: %w", err)
			}
			if err := identify(path, data, names); err != nil {
				return nil, err
			}
			all[path] = data
		}
	}
	for path := range all {
		if err := os.Remove(filepath.Join(r.dir, path)); err != nil {
			return nil, fmt.Errorf("consume %s: %w", path, err)
		}
	}
	for _, folder := range folders {
		_ = os.Remove(filepath.Join(r.dir, folder)) // a foreign file keeps it
	}
	return all, nil
}

// identify reads the object of a file, the first document of it, and refuses one that another file has
// (openshift/installer, pkg/asset/ignition/bootstrap/cvoignore.go).
func identify(path string, data []byte, names map[string]string) error {
	first, _, _ := strings.Cut(strings.TrimPrefix(string(data), "---\n"), "\n---")
	var o struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
	}
	var whole object
	if err := errors.Join(yaml.Unmarshal([]byte(first), &o), yaml.Unmarshal([]byte(first), &whole)); err != nil {
		return fmt.Errorf("could not unmarshal %q: %w", path, err)
	}
	if o.Kind == "" {
		return fmt.Errorf("could not unmarshal %q: Object 'Kind' is missing", path)
	}
	group, _, found := strings.Cut(o.APIVersion, "/")
	if !found {
		group = ""
	}
	who := fmt.Sprintf("group %s kind %s namespace %s name %s", group, o.Kind, o.Metadata.Namespace, o.Metadata.Name)
	if other, taken := names[who]; taken {
		return fmt.Errorf("multiple manifests for %s: %s, %s", who, other, path)
	}
	names[who] = path
	if err := checkMachineConfig(whole); err != nil {
		return fmt.Errorf("load manifest %s: %w", path, err)
	}
	return nil
}
