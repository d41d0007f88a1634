package nodeconfig

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// machineConfig has the members of a MachineConfig that the controller reads.
type machineConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec MachineConfigSpec `json:"spec"`
}

// MachineConfigSpec names the struct as OpenShift does: the name is part of the decoder's errors.
type MachineConfigSpec struct {
	OSImageURL                     string               `json:"osImageURL"`
	BaseOSExtensionsContainerImage string               `json:"baseOSExtensionsContainerImage"`
	Config                         runtime.RawExtension `json:"config"`
	KernelArguments                []string             `json:"kernelArguments"`
	Extensions                     []string             `json:"extensions"`
	FIPS                           bool                 `json:"fips"`
	KernelType                     string               `json:"kernelType"`
}

var (
	// kernelTypes are the kernels that nodes have.
	kernelTypes = []string{"", "default", "realtime", "64k-pages"}
	// extensions are the sets of packages that images of the operating system have (OpenShift documentation,
	// "Adding extensions to RHCOS").
	extensions = []string{"ipsec", "kerberos", "kernel-devel", "sandboxed-containers", "sysstat", "usbguard", "wasm"}
)

func checkMachineConfig(object []byte) error {
	var c machineConfig
	if err := decode(object, &c); err != nil {
		return err
	}
	if !slices.Contains(kernelTypes, c.Spec.KernelType) {
		return fmt.Errorf("kernelType=%s is invalid", c.Spec.KernelType)
	}
	var unknown []string
	for _, e := range c.Spec.Extensions {
		if !slices.Contains(extensions, e) {
			unknown = append(unknown, e)
		}
	}
	if len(unknown) > 0 {
		return fmt.Errorf("invalid extensions found: %v (known are %s)", unknown, quoted(extensions))
	}
	if err := checkKernelDevel(c.Spec); err != nil {
		return err
	}
	if raw := c.Spec.Config.Raw; raw != nil && string(raw) != "null" {
		return checkIgnition(raw)
	}
	return nil
}

// special reports whether a kernel is another than the default one.
func special(kernelType string) bool { return kernelType != "" && kernelType != "default" }

// checkKernelDevel refuses the sources of the default kernel beside another one.
func checkKernelDevel(s MachineConfigSpec) error {
	if special(s.KernelType) && slices.Contains(s.Extensions, "kernel-devel") {
		return fmt.Errorf("installing kernel-devel extension is not supported with kernelType: %s", s.KernelType)
	}
	return nil
}

// pool has the members of a MachineConfigPool that decide which hosts and configs belong to it.
type pool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec MachineConfigPoolSpec `json:"spec"`
}

// MachineConfigPoolSpec names the struct as OpenShift does.
type MachineConfigPoolSpec struct {
	MachineConfigSelector *metav1.LabelSelector `json:"machineConfigSelector"`
	NodeSelector          *metav1.LabelSelector `json:"nodeSelector"`
	Paused                bool                  `json:"paused"`
}

func checkPool(object []byte) error {
	var p pool
	if err := decode(object, &p); err != nil {
		return err
	}
	for _, s := range []*metav1.LabelSelector{p.Spec.MachineConfigSelector, p.Spec.NodeSelector} {
		if err := checkSelector(s); err != nil {
			return err
		}
	}
	return nil
}

func checkSelector(s *metav1.LabelSelector) error {
	if _, err := metav1.LabelSelectorAsSelector(s); err != nil {
		return errors.New("invalid label selector: " + err.Error())
	}
	return nil
}
