package standin

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// object is a Kubernetes object to be.
type object map[string]any

func kube(apiVersion, kind, namespace, name string, more object) object {
	metadata := object{"name": name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	o := object{"apiVersion": apiVersion, "kind": kind, "metadata": metadata}
	for k, v := range more {
		o[k] = v
	}
	return o
}

// createManifests writes manifests/ and openshift/.
func (r *run) createManifests() error {
	s, err := r.begin()
	if err != nil {
		return err
	}
	if p := s.Config.Platform.Nutanix; p != nil {
		if name, _ := p.PrismElements[0]["name"].(string); name == "" {
			// The real program asks Prism Central for it (pkg/asset/manifests/nutanix/infrastructure.go).
			return fmt.Errorf("fail to get prism element %v: no route to %v", p.PrismElements[0]["uuid"], p.PrismCentral["endpoint"])
		}
	}
	all, err := s.manifests()
	if err != nil {
		return err
	}
	own, err := rendered(s.clusterAPI())
	if err != nil {
		return err
	}
	if err := errors.Join(r.write(all), r.write(own)); err != nil {
		return err
	}
	if err := r.save(s); err != nil {
		return err
	}
	r.log.Info(fmt.Sprintf("Manifests created in: %s and %s", filepath.Join(r.dir, "manifests"), filepath.Join(r.dir, "openshift")))
	return nil
}

// manifests makes the objects a cluster starts from, by path.
func (s *state) manifests() (files, error) {
	all := map[string]object{
		"manifests/cluster-config.yaml": kube("v1", "ConfigMap", "kube-system", "cluster-config-v1",
			object{"data": object{"install-config": "apiVersion: v1\nmetadata:\n  name: " + s.Config.Metadata.Name + "\n"}}),
		"manifests/cluster-infrastructure-02-config.yml": s.infrastructure(),
		"manifests/cluster-dns-02-config.yml": kube("config.openshift.io/v1", "DNS", "", "cluster",
			object{"spec": object{"baseDomain": s.domain()}}),
		"manifests/cluster-ingress-02-config.yml": kube("config.openshift.io/v1", "Ingress", "", "cluster",
			object{"spec": object{"domain": "apps." + s.domain()}}),
		"manifests/cluster-network-02-config.yml": kube("config.openshift.io/v1", "Network", "", "cluster",
			object{"spec": object{
				"networkType": s.Config.Networking.NetworkType, "clusterNetwork": s.Config.Networking.ClusterNetwork,
				"serviceNetwork": s.Config.Networking.ServiceNetwork,
			}}),
		"manifests/cluster-proxy-01-config.yaml": kube("config.openshift.io/v1", "Proxy", "", "cluster", object{"spec": s.Config.Proxy}),
		"manifests/cluster-scheduler-02-config.yml": kube("config.openshift.io/v1", "Scheduler", "", "cluster",
			object{"spec": object{"mastersSchedulable": s.Config.Compute[0].Replicas == 0}}),
		"manifests/cvo-overrides.yaml": kube("config.openshift.io/v1", "ClusterVersion", "openshift-cluster-version", "version",
			object{"spec": object{"clusterID": s.ClusterID}}),
		"manifests/kube-system-configmap-root-ca.yaml": kube("v1", "ConfigMap", "kube-system", "root-ca",
			object{"data": object{"ca.crt": string(s.PKI.Root.Cert)}}),
		"manifests/machine-config-server-tls-secret.yaml": kube(
			"v1",
			"Secret",
			"openshift-machine-config-operator",
			"machine-config-server-tls",
			object{"type": "Opaque", "data": object{"tls.crt": encode(s.PKI.MCS.Cert), "tls.key": encode(s.PKI.MCS.Key)}},
		),
		"manifests/openshift-config-secret-pull-secret.yaml": kube("v1", "Secret", "openshift-config", "pull-secret",
			object{"type": "kubernetes.io/dockerconfigjson", "data": object{".dockerconfigjson": encode([]byte(s.Config.PullSecret))}}),
		"openshift/99_kubeadmin-password-secret.yaml": kube("v1", "Secret", "kube-system", "kubeadmin",
			object{"data": object{"kubeadmin": encode([]byte(hash(s.Password)))}}),
		"openshift/openshift-install-manifests.yaml": kube("v1", "ConfigMap", "openshift-config", "openshift-install-manifests",
			object{"data": object{"invoker": s.Invoker, "version": s.Version}}),
	}
	for _, role := range s.roles() {
		all["openshift/99_openshift-machineconfig_99-"+role+"-ssh.yaml"] = s.sshConfig(role)
		all["openshift/99_openshift-cluster-api_"+role+"-user-data-secret.yaml"] = kube("v1", "Secret", machineNamespace, role+"-user-data",
			object{"type": "Opaque", "data": object{"disableTemplating": "dHJ1ZQo=", "userData": ""}})
	}
	s.optional(all)
	s.machines(all)
	return rendered(all)
}

func rendered(all map[string]object) (files, error) {
	out := files{}
	for path, o := range all {
		data, err := yaml.Marshal(o)
		if err != nil {
			return nil, fmt.Errorf("write manifest %s: %w", path, err)
		}
		out[path] = data
	}
	return out, nil
}

// optional adds the manifests that only some clusters have.
func (s *state) optional(all map[string]object) {
	c := s.Config
	if c.FIPS {
		for _, role := range s.roles() {
			all["openshift/99_openshift-machineconfig_99-"+role+"-fips.yaml"] = kube("machineconfiguration.openshift.io/v1", "MachineConfig", "",
				"99-"+role+"-fips", object{"spec": object{"fips": true, "config": object{"ignition": object{"version": "3.2.0"}}}})
		}
	}
	for role, p := range map[string]pool{"master": c.ControlPlane, "worker": c.Compute[0]} {
		if name := "99-" + role + "-disable-hyperthreading"; p.Hyperthreading == "Disabled" {
			all["openshift/99_openshift-machineconfig_"+name+".yaml"] = kube("machineconfiguration.openshift.io/v1", "MachineConfig", "", name,
				object{"spec": object{
					"config": object{"ignition": object{"version": "3.2.0"}}, "kernelArguments": []string{"nosmt", "smt-enabled=off"},
				}})
		}
	}
	if c.ControlPlane.Fencing != nil {
		for i, credential := range c.ControlPlane.Fencing.Credentials {
			all[fmt.Sprintf("openshift/99_openshift-etcd_fencing-credentials-secrets-%d.yaml", i)] = kube("v1", "Secret", "openshift-etcd",
				"fencing-credentials-"+credential.HostName, object{"data": object{
					"address": encode([]byte(credential.Address)), "username": encode([]byte(credential.Username)),
					"password": encode([]byte(credential.Password)), "certificateVerification": encode([]byte(credential.CertificateVerification)),
				}})
		}
	}
	if len(c.ImageContentSources) > 0 {
		var sources []object
		for _, m := range c.ImageContentSources {
			sources = append(sources, object{"source": m.Source, "mirrors": m.Mirrors})
		}
		all["manifests/image-content-source-policy.yaml"] = kube("operator.openshift.io/v1alpha1", "ImageContentSourcePolicy", "", "image-policy",
			object{"spec": object{"repositoryDigestMirrors": sources}})
	}
	if c.Platform.VSphere != nil || c.Platform.Nutanix != nil {
		all["manifests/cloud-provider-config.yaml"] = kube("v1", "ConfigMap", "openshift-config", "cloud-provider-config",
			object{"data": object{"config": ""}})
	}
	all["manifests/kube-cloud-config.yaml"] = kube("v1", "Secret", "kube-system", "kube-cloud-cfg",
		object{"type": "Opaque", "data": object{"config": ""}})
	if s.Minor >= 19 { // operators may sign the machine config server's certificate again
		const namespace, name = "openshift-machine-config-operator", "machine-config-server-ca"
		all["manifests/machine-config-server-ca-configmap.yaml"] = kube("v1", "ConfigMap", namespace, name,
			object{"data": object{"ca-bundle.crt": string(s.PKI.Root.Cert)}})
		all["manifests/machine-config-server-ca-secret.yaml"] = kube("v1", "Secret", namespace, name,
			object{"type": "kubernetes.io/tls", "data": object{"tls.crt": encode(s.PKI.Root.Cert), "tls.key": encode(s.PKI.Root.Key)}})
	}
	if c.AdditionalTrustBundle != "" {
		all["manifests/user-ca-bundle-config.yaml"] = kube("v1", "ConfigMap", "openshift-config", "user-ca-bundle",
			object{"data": object{"ca-bundle.crt": c.AdditionalTrustBundle}})
	}
	if len(c.ImageDigestSources) > 0 {
		all["manifests/image-digest-mirror-set.yaml"] = kube("config.openshift.io/v1", "ImageDigestMirrorSet", "", "image-digest-mirror",
			object{"spec": object{"imageDigestMirrors": c.ImageDigestSources}})
	}
	gates := object{}
	if c.FeatureSet != "" {
		gates["featureSet"] = c.FeatureSet
	}
	all["openshift/99_feature-gate.yaml"] = kube("config.openshift.io/v1", "FeatureGate", "", "cluster", object{"spec": gates})
}

func encode(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func (s *state) infrastructure() object {
	controlPlane, infrastructure := s.topologies()
	platform := s.platformType()
	status := object{"type": platform}
	spec := object{"type": platform}
	if e := s.Config.Platform.External; e != nil {
		state := e.CloudControllerManager // External, or nothing (pkg/asset/manifests/infrastructure.go)
		spec["external"] = object{"platformName": e.PlatformName}
		status["external"] = object{"cloudControllerManager": object{"state": state}}
	}
	return kube("config.openshift.io/v1", "Infrastructure", "", "cluster", object{
		"spec": object{"platformSpec": spec},
		"status": object{
			"apiServerURL": "https://api." + s.domain() + ":6443", "apiServerInternalURI": "https://api-int." + s.domain() + ":6443",
			"controlPlaneTopology": controlPlane, "infrastructureTopology": infrastructure,
			"infrastructureName": s.InfraID, "platform": platform, "platformStatus": status,
		},
	})
}

func (s *state) sshConfig(role string) object {
	return kube("machineconfiguration.openshift.io/v1", "MachineConfig", "", "99-"+role+"-ssh", object{
		"spec": object{"config": object{
			"ignition": object{"version": "3.2.0"},
			"passwd":   object{"users": []object{{"name": "core", "sshAuthorizedKeys": []string{s.Config.SSHKey}}}},
		}},
	})
}
