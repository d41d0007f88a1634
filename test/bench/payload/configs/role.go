package configs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/sim/payload/pki"
	"slipway/test/bench/payload/plan"
)

const (
	bootstrapKubeconfig = "/etc/kubernetes/bootstrap-kubeconfig"
	nodeClients         = "/etc/kubernetes/clients.crt"
)

// base makes the files that all hosts have.
func base(c *plan.Cluster) (map[string][]byte, error) {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the plan of the cluster: %w", err)
	}
	images, err := json.Marshal(map[string]any{"programs": c.Images})
	if err != nil {
		return nil, fmt.Errorf("write the configuration of the container runtime: %w", err)
	}
	var archives bytes.Buffer
	for _, a := range c.Archives {
		fmt.Fprintf(&archives, "%s %s\n", a.SHA256, a.URL)
	}
	return map[string][]byte{
		plan.File: append(text, '\n'), plan.RuntimeFile: images, plan.Archives: archives.Bytes(),
		fetchProgram: fetchScript, waitProgram: waitScript,
	}, nil
}

// Bootstrap makes the config of the bootstrap host. Keys are the files of plan.Keys by name, more are files that the cluster brings
// along.
func Bootstrap(c *plan.Cluster, keys, more map[string][]byte, sshKey string) ([]byte, error) {
	files, err := base(c)
	if err != nil {
		return nil, err
	}
	maps.Copy(files, more)
	for name, content := range keys {
		files[filepath.Join(plan.Keys, name)] = content
	}
	return Parts{Files: files, Units: bootstrapUnits(c), System: systemUnits(), SSHKey: sshKey}.Render()
}

// Node makes the config of a role on an installed host: keys is this host's own folder of them, more are
// files of this config alone.
func Node(c *plan.Cluster, role string, keys pki.Keys, more map[string][]byte) ([]byte, error) {
	files, err := base(c)
	if err != nil {
		return nil, err
	}
	maps.Copy(files, more)
	files[firstBootProgram] = firstBootScript
	if files[plan.FirstBoot], err = encapsulated(c, role); err != nil {
		return nil, err
	}
	if files[nodeClients], err = os.ReadFile(keys.Clients()); err != nil {
		return nil, fmt.Errorf("read the authorities of clients: %w", err)
	}
	if files[bootstrapKubeconfig], err = bootstrapper(c, keys); err != nil {
		return nil, err
	}
	if role == plan.Master {
		if err := addKeys(files, keys); err != nil {
			return nil, err
		}
	}
	return Parts{Files: files, Units: nodeUnits(c, role)}.Render()
}

// encapsulated makes the config that a node compares its operating system with when it boots first
// (openshift/machine-config-operator, pkg/server/server.go).
func encapsulated(c *plan.Cluster, role string) ([]byte, error) {
	text, err := json.Marshal(map[string]any{
		"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
		"metadata": map[string]string{"name": "rendered-" + role + "-bench"},
		"spec":     map[string]any{"osImageURL": c.Release},
	})
	if err != nil {
		return nil, fmt.Errorf("write the config of the first boot: %w", err)
	}
	return text, nil
}

// bootstrapper makes the kubeconfig that a kubelet asks for its certificate with.
func bootstrapper(c *plan.Cluster, keys pki.Keys) ([]byte, error) {
	client, err := keys.Load(pki.Bootstrapper)
	if err != nil {
		return nil, err
	}
	authority, err := os.ReadFile(keys.Cert(pki.APISigner))
	if err != nil {
		return nil, fmt.Errorf("read the authority of the API: %w", err)
	}
	return pki.Access{Cluster: c.Name, User: pki.Bootstrapper, Server: c.API(), Authority: authority, Client: client}.Kubeconfig()
}

func addKeys(files map[string][]byte, keys pki.Keys) error {
	entries, err := os.ReadDir(string(keys))
	if err != nil {
		return fmt.Errorf("list the keys: %w", err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		content, err := os.ReadFile(filepath.Join(string(keys), e.Name()))
		if err != nil {
			return fmt.Errorf("read the keys: %w", err)
		}
		files[filepath.Join(plan.Keys, e.Name())] = content
	}
	return nil
}

// Merge lays machine configs over the config of a role, in the order of their names.
func Merge(config []byte, machineConfigs []MachineConfig) ([]byte, error) {
	for _, m := range machineConfigs {
		merged, err := document.Merge(config, m.Config)
		if err != nil {
			return nil, fmt.Errorf("merge machine config %s: %w", m.Name, err)
		}
		config = merged
	}
	return config, nil
}
