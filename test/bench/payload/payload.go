// Package payload builds what a bench cluster is installed from: the installer that a
// release carries, and the archive with the programs of its hosts.
package payload

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// api is where the definitions of OpenShift's own kinds come from.
const api = "github.com/openshift/api@v0.0.0-20260107103503-6d35063ca179"

// definitions of the kinds that the in-cluster controller and the service read or that the manifests of an installer name; other kinds
// get a definition that takes everything.
var definitions = []string{
	"config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusteroperators.crd.yaml",
	"config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusterversions-Default.crd.yaml",
	"config/v1/zz_generated.crd-manifests/0000_03_config-operator_01_proxies.crd.yaml",
	"machineconfiguration/v1/zz_generated.crd-manifests/0000_80_machine-config_01_machineconfigs.crd.yaml",
	"route/v1/zz_generated.crd-manifests/routes.crd.yaml",
}

// Built names the files that were built.
type Built struct {
	Installer string // program
	Archive   string // tar, zstd: bin/{bench-node,slipway-controller}, crds
	SHA256    string // of the archive, hex
}

// Build builds into a folder. It is called from a folder of this module.
func Build(ctx context.Context, dir string) (Built, error) {
	b := Built{Installer: filepath.Join(dir, "bench-installer"), Archive: filepath.Join(dir, "bench.tar.zst")}
	tree := filepath.Join(dir, "tree")
	for _, folder := range []string{"bin", "crds"} {
		if err := os.MkdirAll(filepath.Join(tree, folder), 0o755); err != nil {
			return Built{}, fmt.Errorf("make the folder of the archive: %w", err)
		}
	}
	for program, source := range map[string]string{
		b.Installer:                                   "slipway/test/bench/payload/installer",
		filepath.Join(tree, "bin/bench-node"):         "slipway/test/bench/payload/node",
		filepath.Join(tree, "bin/slipway-controller"): "slipway/cmd/slipway-controller",
	} {
		cmd := exec.CommandContext(ctx, "go", "build", "-ldflags", "-s -w", "-o", program, source)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if output, err := cmd.CombinedOutput(); err != nil {
			return Built{}, fmt.Errorf("build %s: %w: %s", source, err, output)
		}
	}
	if err := copyDefinitions(ctx, filepath.Join(tree, "crds")); err != nil {
		return Built{}, err
	}
	pack := exec.CommandContext(ctx, "tar", "--create", "--zstd", "--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner",
		"--file", b.Archive, "--directory", tree, "bin", "crds")
	if output, err := pack.CombinedOutput(); err != nil {
		return Built{}, fmt.Errorf("pack the archive: %w: %s", err, output)
	}
	var err error
	b.SHA256, err = Sum(b.Archive)
	return b, err
}

// Sum returns the SHA-256 of a file, in hex.
func Sum(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("hash %s: %w", name, err)
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("hash %s: %w", name, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// copyDefinitions takes them out of the module they are published in, which the product
// itself does not need.
func copyDefinitions(ctx context.Context, dir string) error {
	var module struct {
		Dir   string
		Error string
	}
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", api)
	cmd.Dir = dir // outside of a module's build: nothing of ours is changed
	output, err := cmd.Output()
	if jsonErr := json.Unmarshal(output, &module); jsonErr != nil || module.Error != "" {
		return fmt.Errorf("download %s: %w: %s", api, errors.Join(err, jsonErr), module.Error)
	}
	for _, name := range definitions {
		content, err := os.ReadFile(filepath.Join(module.Dir, name))
		if err != nil {
			return fmt.Errorf("read a definition: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), content, 0o644); err != nil {
			return fmt.Errorf("write a definition: %w", err)
		}
	}
	return nil
}
