package nodeconfig

import (
	"bytes"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/kubelet/config/v1beta1"
)

type kubeletConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec KubeletConfigSpec `json:"spec"`
}

// KubeletConfigSpec names the struct as OpenShift does.
type KubeletConfigSpec struct {
	AutoSizingReserved        *bool                 `json:"autoSizingReserved"`
	LogLevel                  *int32                `json:"logLevel"`
	MachineConfigPoolSelector *metav1.LabelSelector `json:"machineConfigPoolSelector"`
	KubeletConfig             *runtime.RawExtension `json:"kubeletConfig"`
	TLSSecurityProfile        *struct {
		Type string `json:"type"`
	} `json:"tlsSecurityProfile"`
}

func checkKubeletConfig(object []byte) error {
	var c kubeletConfig
	if err := decode(object, &c); err != nil {
		return err
	}
	if err := checkSelector(c.Spec.MachineConfigPoolSelector); err != nil {
		return err
	}
	if level := c.Spec.LogLevel; level != nil && (*level < 1 || *level > 10) {
		return fmt.Errorf("KubeletConfig's LogLevel is not valid [1,10]: %d", *level)
	}
	if c.Spec.KubeletConfig == nil || c.Spec.KubeletConfig.Raw == nil {
		return nil
	}
	var settings v1beta1.KubeletConfiguration
	raw := c.Spec.KubeletConfig.Raw
	if err := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), len(raw)).Decode(&settings); err != nil {
		return fmt.Errorf("KubeletConfig could not be unmarshalled, err: %w", err)
	}
	return checkKubelet(&settings, &c.Spec)
}

// checkKubelet refuses the settings that OpenShift makes itself.
func checkKubelet(k *v1beta1.KubeletConfiguration, spec *KubeletConfigSpec) error {
	for _, own := range []struct {
		name  string
		isSet bool
		value any
	}{
		{"cgroupDriver", k.CgroupDriver != "", k.CgroupDriver},
		{"clusterDNS", len(k.ClusterDNS) > 0, k.ClusterDNS},
		{"clusterDomain", k.ClusterDomain != "", k.ClusterDomain},
		{"featureGates", len(k.FeatureGates) > 0, k.FeatureGates},
		{"staticPodPath", k.StaticPodPath != "", k.StaticPodPath},
	} {
		if own.isSet {
			return fmt.Errorf("KubeletConfiguration: %s is not allowed to be set, but contains: %v", own.name, own.value)
		}
	}
	if len(k.SystemReserved) > 0 && spec.AutoSizingReserved != nil && *spec.AutoSizingReserved {
		return fmt.Errorf("KubeletConfiguration: autoSizingReserved and systemReserved cannot be set together")
	}
	return nil
}
