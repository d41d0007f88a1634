package manifests

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// namespaced are kinds that live in namespaces, by group (Kubernetes API reference; OpenShift API reference 4.19). Only kinds whose
// definitions come with the cluster or with an operator that is installed often are here: others pass.
var namespaced = map[string][]string{
	"": {
		"ConfigMap", "Endpoints", "Event", "LimitRange", "PersistentVolumeClaim", "Pod", "PodTemplate", "ReplicationController",
		"ResourceQuota", "Secret", "Service", "ServiceAccount",
	},
	"apps":                      {"ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"},
	"autoscaling":               {"HorizontalPodAutoscaler"},
	"batch":                     {"CronJob", "Job"},
	"coordination.k8s.io":       {"Lease"},
	"discovery.k8s.io":          {"EndpointSlice"},
	"networking.k8s.io":         {"Ingress", "NetworkPolicy"},
	"policy":                    {"PodDisruptionBudget"},
	"rbac.authorization.k8s.io": {"Role", "RoleBinding"},
	"k8s.cni.cncf.io":           {"NetworkAttachmentDefinition"},
	"machine.openshift.io":      {"ControlPlaneMachineSet", "Machine", "MachineHealthCheck", "MachineSet"},
	"metal3.io":                 {"BareMetalHost", "HostFirmwareSettings", "PreprovisioningImage"},
	"monitoring.coreos.com":     {"AlertmanagerConfig", "PodMonitor", "Probe", "PrometheusRule", "ServiceMonitor"},
	"operator.openshift.io":     {"IngressController"},
	"operators.coreos.com":      {"CatalogSource", "ClusterServiceVersion", "InstallPlan", "OperatorGroup", "Subscription"},
	"route.openshift.io":        {"Route"},
	"tuned.openshift.io":        {"Profile", "Tuned"},
}

// checkNamespace returns an error when an object has to have a namespace and has none. The API server has no path to create it at
// (kubernetes/kubernetes, staging/src/k8s.io/apiserver/pkg/endpoints/installer.go), and bootkube tries again for an hour
// (openshift/cluster-bootstrap, pkg/start/start.go).
func checkNamespace(document []byte) error {
	var object metav1.PartialObjectMetadata
	if err := yaml.Unmarshal(document, &object); err != nil || object.Namespace != "" {
		return nil //nolint:nilerr // no Kubernetes object
	}
	group, err := schema.ParseGroupVersion(object.APIVersion)
	if err != nil || !slices.Contains(namespaced[group.Group], object.Kind) {
		return nil //nolint:nilerr // no Kubernetes object
	}
	return fmt.Errorf("require metadata.namespace of %s %s, found none: no API server creates it", object.Kind, object.Name)
}
