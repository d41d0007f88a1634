package nodeconfig

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type containerRuntimeConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ContainerRuntimeConfigSpec `json:"spec"`
}

// ContainerRuntimeConfigSpec names the struct as OpenShift does.
type ContainerRuntimeConfigSpec struct {
	MachineConfigPoolSelector *metav1.LabelSelector          `json:"machineConfigPoolSelector"`
	ContainerRuntimeConfig    *ContainerRuntimeConfiguration `json:"containerRuntimeConfig"`
}

// ContainerRuntimeConfiguration names the struct as OpenShift does.
type ContainerRuntimeConfiguration struct {
	PidsLimit      *int64            `json:"pidsLimit"`
	LogLevel       string            `json:"logLevel"`
	LogSizeMax     resource.Quantity `json:"logSizeMax"`
	OverlaySize    resource.Quantity `json:"overlaySize"`
	DefaultRuntime string            `json:"defaultRuntime"`
}

const (
	minPidsLimit = 20
	minLogSize   = 8192 // bytes
)

var (
	runtimes  = []string{"", "crun", "runc"}
	logLevels = []string{"", "error", "fatal", "panic", "warn", "info", "debug", "trace"}
)

func checkContainerRuntimeConfig(object []byte) error {
	var c containerRuntimeConfig
	if err := decode(object, &c); err != nil {
		return err
	}
	if err := checkSelector(c.Spec.MachineConfigPoolSelector); err != nil {
		return err
	}
	r := c.Spec.ContainerRuntimeConfig
	if r == nil {
		return nil
	}
	switch size := r.LogSizeMax.Value(); {
	case r.PidsLimit != nil && *r.PidsLimit != 0 && *r.PidsLimit < minPidsLimit && *r.PidsLimit != -1:
		return fmt.Errorf("invalid PidsLimit %d", *r.PidsLimit)
	case size > 0 && size <= minLogSize:
		return fmt.Errorf("invalid LogSizeMax %q, cannot be less than 8kB", r.LogSizeMax.String())
	case r.OverlaySize.Value() < 0:
		return fmt.Errorf("invalid overlaySize %q, cannot be less than 0", r.OverlaySize.String())
	case !slices.Contains(logLevels, r.LogLevel):
		return fmt.Errorf("invalid LogLevel %q, must be one of error, fatal, panic, warn, info, debug, or trace", r.LogLevel)
	case !slices.Contains(runtimes, r.DefaultRuntime):
		return fmt.Errorf("invalid DefaultRuntime %q, must be one of crun, runc", r.DefaultRuntime)
	}
	return nil
}
