package coreos

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
)

// etcdPackages lists Debian's packages of etcd and its client.
var etcdPackages = []string{"etcd-client", "etcd-server"}

// KubeOptions say what the programs of a cluster's hosts are built from.
type KubeOptions struct {
	// Source is the folder of the Go module that names Kubernetes and has the bench's
	// container runtime: test/bench/kube of this repository.
	Source string
}

// Kube returns the archive kube.tar.zst with the programs that make a host a part of a
// cluster: bin/{kube-apiserver,kube-controller-manager,kubelet,kubectl,etcd,etcdctl,bench-cri}.
// What is missing is built; the first time takes minutes.
func Kube(ctx context.Context, c Cache, o KubeOptions) (string, error) {
	if err := requireSuite(); err != nil {
		return "", err
	}
	step, err := planKube(ctx, o)
	if err != nil {
		return "", err
	}
	dir, err := c.Make(ctx, step)
	if err != nil {
		return "", err
	}
	made := filepath.Join(dir, "kube.tar.zst")
	list, err := json.Marshal(made)
	if err != nil {
		return "", err
	}
	path, err := kubeListPath(c.Dir, o)
	if err != nil {
		return "", err
	}
	return made, renameio.WriteFile(path, append(list, '\n'), 0o644)
}

// FindKube returns the archive that Kube made last from the sources and scripts as they
// are now, whatever versions of packages there are by now. It is fs.ErrNotExist without any.
func FindKube(dir string, o KubeOptions) (string, error) {
	path, err := kubeListPath(dir, o)
	if err != nil {
		return "", err
	}
	list, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var made string
	if err := json.Unmarshal(list, &made); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	_, err = os.Stat(made)
	return made, err
}

// kubeListPath returns the file with the archive's path, by the key of sources and scripts alone.
func kubeListPath(dir string, o KubeOptions) (string, error) {
	sources, err := sourcesDigest(o.Source)
	if err != nil {
		return "", err
	}
	key, err := Step{
		Name: "kubelist", Script: "kube.sh", Files: []string{"kube-programs.sh", "kube-etcd.sh", "kube-cri.sh"},
		Settings: map[string]string{"SOURCES": sources},
	}.Key()
	return filepath.Join(dir, key+".json"), err
}

// planKube finds out the versions of all that is used.
func planKube(ctx context.Context, o KubeOptions) (Step, error) {
	source, err := filepath.Abs(o.Source)
	if err != nil {
		return Step{}, err
	}
	version, err := output(ctx, "go", "-C", source, "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	if err != nil {
		return Step{}, err
	}
	compiler, err := output(ctx, "go", "-C", source, "env", "GOVERSION")
	if err != nil {
		return Step{}, err
	}
	modules, err := sourcesDigest(source, "go.mod", "go.sum")
	if err != nil {
		return Step{}, err
	}
	all, err := sourcesDigest(source)
	if err != nil {
		return Step{}, err
	}
	versions, err := candidates(ctx, etcdPackages)
	if err != nil {
		return Step{}, err
	}
	compiler = strings.TrimSpace(compiler)
	paths := map[string]string{"SOURCE": source}
	return Step{Name: "kube", Script: "kube.sh", Needs: map[string]Step{
		"PROGRAMS": {
			Name: "kubeprograms", Script: "kube-programs.sh", Paths: paths,
			Settings: map[string]string{"VERSION": strings.TrimSpace(version), "COMPILER": compiler, "MODULES": modules},
		},
		"ETCD": {
			Name: "kubeetcd", Script: "kube-etcd.sh",
			Settings: map[string]string{"PACKAGES": strings.Join(etcdPackages, " "), "VERSIONS": versions},
		},
		"CRI": {Name: "kubecri", Script: "kube-cri.sh", Paths: paths, Settings: map[string]string{"COMPILER": compiler, "SOURCES": all}},
	}}, nil
}

// sourcesDigest identifies one content of a Go module: of the named files, or of all that is built, wherever the folder is.
func sourcesDigest(folder string, names ...string) (string, error) {
	sum := sha256.New()
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	err := filepath.WalkDir(folder, func(file string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, file)
		if err != nil || !ofModule(name) || len(wanted) > 0 && !wanted[name] {
			return err
		}
		content, err := os.ReadFile(file) //nolint:gosec // below the folder that the caller names
		fmt.Fprintf(sum, "file %s %d\n%s\n", name, len(content), content)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read the sources of %s: %w", folder, err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}

// ofModule reports files that programs are built from: no tests, no notes.
func ofModule(name string) bool {
	return name == "go.mod" || name == "go.sum" || strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
}
