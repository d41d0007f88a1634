package operators_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"slipway/internal/cluster/operators"
)

// subscribed is how openshift/assisted-service subscribes to an operator (each folder of
// internal/operators, the templates of its manifests).
type subscribed struct {
	operator, pkg, catalogue, channel, namespace, group string
	ownNamespace, monitored                             bool
}

const (
	red, certified = "redhat-operators", "certified-operators"
	everywhere     = "openshift-operators" // exists in every cluster with a group of all namespaces
	availability   = "openshift-workload-availability"
)

var subscriptions = []subscribed{
	{"amd-gpu", "amd-gpu-operator", certified, "alpha", "openshift-amd-gpu", "kube-amd-gpu", false, true},
	{"authorino", "authorino-operator", red, "tech-preview-v1", everywhere, "", false, false},
	{
		"cluster-observability", "cluster-observability-operator", red, "stable",
		"openshift-cluster-observability-operator", "cluster-observability", false, true,
	},
	{"cnv", "kubevirt-hyperconverged", red, "stable", "openshift-cnv", "kubevirt-hyperconverged-group", true, false},
	{"fence-agents-remediation", "fence-agents-remediation", red, "stable", availability, "openshift-node-availability", false, false},
	{"kmm", "kernel-module-management", red, "stable", "openshift-kmm", "openshift-kmm", false, false},
	{
		"kube-descheduler", "cluster-kube-descheduler-operator", red, "stable",
		"openshift-kube-descheduler-operator", "openshift-node-availability", true, true,
	},
	{"loki", "loki-operator", red, "", "openshift-operators-redhat", "loki-operator", false, true},
	{"lso", "local-storage-operator", red, "", "openshift-local-storage", "local-storage", true, true},
	{"lvm", "lvms-operator", red, "", "openshift-storage", "openshift-storage-operatorgroup", true, true},
	{"mce", "multicluster-engine", red, "", "multicluster-engine", "mce", true, false},
	{"metallb", "metallb-operator", red, "stable", "metallb-system", "metallb", false, false},
	{"mtv", "mtv-operator", red, "", "openshift-mtv", "migration", true, false},
	{"nmstate", "kubernetes-nmstate-operator", red, "stable", "openshift-nmstate", "openshift-nmstate", true, false},
	{"node-feature-discovery", "nfd", red, "stable", "openshift-nfd", "openshift-nfd", true, true},
	{"node-healthcheck", "node-healthcheck-operator", red, "stable", availability, "openshift-node-availability", false, false},
	{
		"node-maintenance", "node-maintenance-operator", red, "stable",
		"openshift-workload-maintenance", "openshift-node-availability", false, false,
	},
	{"numaresources", "numaresources-operator", red, "", "openshift-numaresources", "numaresources-operator", true, true},
	{"nvidia-gpu", "gpu-operator-certified", certified, "stable", "nvidia-gpu-operator", "nvidia-gpu-operator", true, false},
	{"oadp", "redhat-oadp-operator", red, "", "openshift-adp", "oadp", true, false},
	{"odf", "odf-operator", red, "", "openshift-storage", "openshift-storage-operatorgroup", true, true},
	{"openshift-ai", "rhods-operator", red, "stable", "redhat-ods-operator", "rhods-operator", false, false},
	{"openshift-logging", "cluster-logging", red, "", "openshift-logging", "cluster-logging", true, true},
	{
		"osc", "sandboxed-containers-operator", red, "",
		"openshift-sandboxed-containers-operator", "sandboxed-containers-operator-group", true, false,
	},
	{"pipelines", "openshift-pipelines-operator-rh", red, "latest", everywhere, "", false, false},
	{"self-node-remediation", "self-node-remediation", red, "stable", availability, "openshift-node-availability", false, false},
	{"serverless", "serverless-operator", red, "stable", "openshift-serverless", "openshift-serverless", false, false},
	{"servicemesh", "servicemeshoperator", red, "stable", everywhere, "", false, false},
}

func TestOperatorsAreSubscribedToAsInOtherInstallers(t *testing.T) {
	t.Parallel()
	require.Len(t, subscriptions, len(operators.Names()))
	for _, want := range subscriptions {
		t.Run(want.operator, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.choose(want.operator)
			day1, _ := render(t, w)
			var s unstructured.Unstructured
			for _, obj := range day1 {
				if obj.GetKind() == "Subscription" {
					s = obj
				}
			}
			require.Equal(t, want.namespace, s.GetNamespace())
			requireField(t, s, "spec.name", want.pkg)
			requireField(t, s, "spec.source", want.catalogue)
			requireField(t, s, "spec.sourceNamespace", "openshift-marketplace")
			requireField(t, s, "spec.installPlanApproval", "Automatic")
			requireField(t, s, "spec.channel", want.channel)
			requireField(t, s, "spec.startingCSV", "")
			if want.namespace == everywhere {
				require.Len(t, day1, 1)
				return
			}
			group := day1["OperatorGroup/"+want.group]
			require.Equal(t, want.namespace, group.GetNamespace())
			targets := ""
			if want.ownNamespace {
				targets = "[" + want.namespace + "]"
			}
			requireField(t, group, "spec.targetNamespaces", targets)
			labels := ""
			if want.monitored {
				labels = `{openshift.io/cluster-monitoring: "true"}`
			}
			namespace, made := day1["Namespace/"+want.namespace]
			require.True(t, made)
			requireField(t, namespace, "metadata.labels", labels)
		})
	}
}

func TestOldLVMIsSubscribedToByItsFormerName(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.single()
	w.c.OpenShiftVersion = "4.11.20"
	w.choose("lvm")
	day1, _ := render(t, w)
	requireField(t, day1["Subscription/odf-lvm-operator"], "spec.name", "odf-lvm-operator")
}
