package standin

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_4"

	"slipway/internal/sim/payload/pki"
)

// folders hold the manifests between the commands; the second command consumes them.
var folders = []string{"manifests", "openshift"}

// createIgnitionConfigs writes the configs of bootstrap host and roles.
func (r *run) createIgnitionConfigs() error {
	return r.create(func(s *state, manifests files) (files, error) {
		out := files{}
		var err error
		if out["bootstrap.ign"], err = r.bootstrap(s, manifests, false); err != nil {
			return nil, err
		}
		for _, role := range s.roles() {
			if out[role+".ign"], err = s.pointer(role); err != nil {
				return nil, err
			}
		}
		return out, nil
	})
}

// createSingleNodeConfig writes the one config of a node that bootstraps itself.
func (r *run) createSingleNodeConfig() error {
	return r.create(func(s *state, manifests files) (files, error) {
		if s.Config.BootstrapInPlace == nil || s.Config.ControlPlane.Replicas != 1 {
			return nil, fmt.Errorf("%w: bootstrapInPlace requires exactly one control plane replica", errInstallConfig)
		}
		config, err := r.bootstrap(s, manifests, true)
		if err != nil {
			return nil, err
		}
		worker, err := s.pointer("worker")
		return files{"bootstrap-in-place-for-live-iso.ign": config, "worker.ign": worker}, err
	})
}

// create consumes the manifests and writes configs, credentials and metadata.
func (r *run) create(configs func(*state, files) (files, error)) error {
	s, err := r.resume()
	if err != nil {
		return err
	}
	s.NodeIP = r.nodeIP
	manifests, err := r.consumeManifests()
	if err != nil {
		return err
	}
	if len(manifests) == 0 {
		if manifests, err = s.manifests(); err != nil {
			return err
		}
	}
	out, err := configs(s, manifests)
	if err != nil {
		return err
	}
	if err := s.credentials(out); err != nil {
		return err
	}
	if err := r.write(out); err != nil {
		return err
	}
	r.log.Info(fmt.Sprintf("Ignition-Configs created in: %s and %s", r.dir, filepath.Join(r.dir, "auth")))
	return r.save(s)
}

// checkMachineConfig reads the Ignition of a machine config, as the bootstrap's operator
// would, which stops there when it cannot. It still takes specification 2.2, which it converts
// (openshift/machine-config-operator, pkg/controller/common/helpers.go, ParseAndConvertConfig): of such a config only the
// version is read here.
func checkMachineConfig(o object) error {
	if o["kind"] != "MachineConfig" {
		return nil
	}
	spec, _ := o["spec"].(map[string]any)
	if spec["config"] == nil {
		return nil
	}
	config, err := json.Marshal(spec["config"])
	if err != nil {
		return fmt.Errorf("write Ignition: %w", err)
	}
	var old struct {
		Ignition struct {
			Version string `json:"version"`
		} `json:"ignition"`
	}
	if json.Unmarshal(config, &old) == nil && old.Ignition.Version == "2.2.0" {
		return nil
	}
	if _, report, err := v3_4.ParseCompatibleVersion(config); err != nil {
		return fmt.Errorf("read Ignition: %w: %s", err, report.String())
	}
	return nil
}

// credentials adds what the administrator gets.
func (s *state) credentials(out files) error {
	kubeconfig, err := s.kubeconfig("https://api." + s.domain() + ":6443")
	if err != nil {
		return err
	}
	metadata, err := json.Marshal(map[string]any{
		"clusterName": s.Config.Metadata.Name, "clusterID": s.ClusterID, "infraID": s.InfraID,
		"featureSet": s.Config.FeatureSet, "customFeatureSet": nil, strings.ToLower(s.platformType()): object{},
	})
	if err != nil {
		return fmt.Errorf("write metadata: %w", err)
	}
	out["auth/kubeconfig"] = kubeconfig
	out["auth/kubeadmin-password"] = []byte(s.Password)
	out["metadata.json"] = metadata
	return nil
}

// kubeconfig lets the administrator into the API at server.
func (s *state) kubeconfig(server string) ([]byte, error) {
	return pki.Access{
		Cluster: s.Config.Metadata.Name, User: "admin", Server: server, Authority: s.PKI.APISigner.Cert, Client: s.PKI.Admin,
	}.Kubeconfig()
}
