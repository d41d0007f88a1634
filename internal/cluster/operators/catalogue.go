package operators

import (
	"time"

	"slipway/internal/cluster/hardware"
	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
)

// Time-outs of the table.
const (
	usualTimeout = 30 * time.Minute
	longTimeout  = time.Hour
	lsoTimeout   = 70 * time.Minute
)

// certifiedOperators is the catalogue of operators that other vendors maintain.
const certifiedOperators = "certified-operators"

// everyNode is the addition of the operators that ask for a little of every node.
var everyNode = Need{CPUCores: 1, RAMMiB: 1024, Also: []string{"1024 MiB of memory more", "1 CPU core more"}}

// catalogue is every operator, by name. Those with rules of their own have files of their own.
var catalogue = []Operator{
	{
		Name: "amd-gpu", Title: "AMD GPU",
		Description: "Makes AMD GPUs usable for workloads.",
		Feature:     openshift.FeatureAMDGPU,
		Subscription: Subscription{
			Namespace: "openshift-amd-gpu", Name: "amd-gpu-operator", Source: certifiedOperators,
			Channel: "alpha", Group: "kube-amd-gpu", ClusterMonitoring: true, PrometheusRole: true,
		},
		Timeout:      usualTimeout,
		Dependencies: []string{"node-feature-discovery", "kmm"},
		host: func(_ *Plan, h *model.Host) Result {
			return requireUnsigned("AMD GPU", gpuHosts, h, hardware.GPUs(h, hardware.VendorAMD) > 0)
		},
		cluster: func(p *Plan) Result {
			return p.requireGPU("AMD GPU", hardware.VendorAMD, p.options.AMDRequireGPU)
		},
	},
	{
		Name: "authorino", Title: "Authorino",
		Description: "Authorizes requests to the API of models and services.",
		Feature:     openshift.FeatureAuthorino,
		Subscription: Subscription{
			Namespace: "openshift-operators", Name: "authorino-operator",
			Channel: "tech-preview-v1",
		},
		Timeout: usualTimeout,
	},
	{
		Name: "cluster-observability", Title: "Cluster observability",
		Description: "Manages monitoring stacks and the observability pages of the console.",
		Feature:     openshift.FeatureClusterObservability,
		Subscription: Subscription{
			Namespace: "openshift-cluster-observability-operator", Name: "cluster-observability-operator",
			Channel: "stable", Group: "cluster-observability", ClusterMonitoring: true,
		},
		Timeout:      usualTimeout,
		Dependencies: []string{"openshift-logging"},
	},
	cnv,
	{
		Name: "fence-agents-remediation", Title: "Fence agents remediation",
		Description: "Restarts unhealthy nodes through their management controllers.",
		Feature:     openshift.FeatureFenceAgentsRemediation,
		Subscription: Subscription{
			Namespace: "openshift-workload-availability", Name: "fence-agents-remediation",
			Channel: "stable", Group: "openshift-node-availability",
		},
		Timeout:      usualTimeout,
		Dependencies: []string{"node-healthcheck"},
	},
	{
		Name: "kmm", Title: "Kernel module management",
		Description: "Builds and loads kernel modules that the system does not ship.",
		Feature:     openshift.FeatureKMM,
		Subscription: Subscription{
			Namespace: "openshift-kmm", Name: "kernel-module-management",
			Channel: "stable", Group: "openshift-kmm",
		},
		Timeout: usualTimeout,
		host: func(_ *Plan, h *model.Host) Result {
			return requireUnsigned("Kernel module management", "all hosts", h, true)
		},
	},
	{
		Name: "kube-descheduler", Title: "Kube descheduler",
		Description: "Moves running work to nodes that fit it better.",
		Feature:     openshift.FeatureKubeDescheduler,
		Subscription: Subscription{
			Namespace: "openshift-kube-descheduler-operator", Name: "cluster-kube-descheduler-operator",
			Channel: "stable", Group: "openshift-node-availability", OwnNamespace: true, ClusterMonitoring: true,
		},
		Timeout: usualTimeout,
	},
	{
		Name: "loki", Title: "Loki",
		Description: "Stores logs; the object storage it needs is set up once the cluster runs.",
		Feature:     openshift.FeatureLoki,
		Subscription: Subscription{
			Namespace: "openshift-operators-redhat", Name: "loki-operator",
			Group: "loki-operator", ClusterMonitoring: true,
		},
		Timeout: usualTimeout,
	},
	{
		Name: "lso", Title: "Local storage",
		Description: "Offers disks of nodes as volumes.",
		Feature:     openshift.FeatureLSO,
		Subscription: Subscription{
			Namespace: "openshift-local-storage", Name: "local-storage-operator",
			Group: "local-storage", OwnNamespace: true, ClusterMonitoring: true, PrometheusRole: true,
		},
		Timeout: lsoTimeout,
	},
	lvm,
	{
		Name: "mce", Title: "Multicluster engine",
		Description: "Creates and manages other clusters; with an operator for storage it can install them.",
		Feature:     openshift.FeatureMCE,
		Subscription: Subscription{
			Namespace: "multicluster-engine", Name: "multicluster-engine",
			Group: "mce", OwnNamespace: true,
		},
		Timeout: longTimeout,
		Needs: Needs{
			Master: Need{CPUCores: 4, RAMMiB: 16 << 10}, Worker: Need{CPUCores: 4, RAMMiB: 16 << 10},
			Single: &Need{CPUCores: 8, RAMMiB: 32 << 10},
		},
		ownNeed: true,
	},
	{
		Name: "metallb", Title: "MetalLB",
		Description: "Gives services of type LoadBalancer addresses on bare metal.",
		Feature:     openshift.FeatureMetalLB,
		Subscription: Subscription{
			Namespace: "metallb-system", Name: "metallb-operator",
			Channel: "stable", Group: "metallb",
		},
		Timeout: usualTimeout,
	},
	{
		Name: "mtv", Title: "Migration toolkit for virtualization",
		Description: "Brings virtual machines from other platforms.",
		Feature:     openshift.FeatureMTV,
		Subscription: Subscription{
			Namespace: "openshift-mtv", Name: "mtv-operator",
			Group: "migration", OwnNamespace: true,
		},
		Timeout:      longTimeout,
		Dependencies: []string{"cnv"},
		Needs:        Needs{Master: everyNode, Worker: everyNode},
		ownNeed:      true,
	},
	{
		Name: "nmstate", Title: "NMState",
		Description: "Configures the network of running nodes.",
		Feature:     openshift.FeatureNMState,
		Subscription: Subscription{
			Namespace: "openshift-nmstate", Name: "kubernetes-nmstate-operator",
			Channel: "stable", Group: "openshift-nmstate", OwnNamespace: true,
		},
		Timeout: longTimeout,
	},
	{
		Name: "node-feature-discovery", Title: "Node feature discovery",
		Description: "Labels nodes with the hardware they have.",
		Feature:     openshift.FeatureNodeFeatureDiscovery,
		Subscription: Subscription{
			Namespace: "openshift-nfd", Name: "nfd",
			Channel: "stable", Group: "openshift-nfd", OwnNamespace: true, ClusterMonitoring: true,
		},
		Timeout: usualTimeout,
	},
	{
		Name: "node-healthcheck", Title: "Node health check",
		Description: "Finds unhealthy nodes and has them remedied.",
		Feature:     openshift.FeatureNodeHealthcheck,
		Subscription: Subscription{
			Namespace: "openshift-workload-availability", Name: "node-healthcheck-operator",
			Channel: "stable", Group: "openshift-node-availability",
		},
		Timeout: usualTimeout,
		// Versions before 25.1 install it themselves; later versions leave the choice of a remediation to the user.
		brings: func(*model.Cluster) []string { return []string{"self-node-remediation"} },
	},
	{
		Name: "node-maintenance", Title: "Node maintenance",
		Description: "Drains nodes for maintenance and takes them back.",
		Feature:     openshift.FeatureNodeMaintenance,
		Subscription: Subscription{
			Namespace: "openshift-workload-maintenance", Name: "node-maintenance-operator",
			Channel: "stable", Group: "openshift-node-availability",
		},
		Timeout: usualTimeout,
	},
	{
		Name: "numaresources", Title: "NUMA resources",
		Description: "Places work that is sensitive to NUMA on fitting nodes.",
		Feature:     openshift.FeatureNUMAResources,
		Rule:        "numa-resources",
		Subscription: Subscription{
			Namespace: "openshift-numaresources", Name: "numaresources-operator",
			Group: "numaresources-operator", OwnNamespace: true, ClusterMonitoring: true, PrometheusRole: true,
		},
		Timeout: usualTimeout,
	},
	nvidiaGPU,
	{
		Name: "oadp", Title: "API for data protection",
		Description: "Backs applications up and restores them; where to is set up once the cluster runs.",
		Feature:     openshift.FeatureOADP,
		Subscription: Subscription{
			Namespace: "openshift-adp", Name: "redhat-oadp-operator",
			Group: "oadp", OwnNamespace: true,
		},
		Timeout: usualTimeout,
	},
	odf,
	openshiftAI,
	{
		Name: "openshift-logging", Title: "OpenShift Logging",
		Description: "Collects logs and forwards them.",
		Feature:     openshift.FeatureOpenShiftLogging,
		Subscription: Subscription{
			Namespace: "openshift-logging", Name: "cluster-logging",
			Group: "cluster-logging", OwnNamespace: true, ClusterMonitoring: true,
		},
		Timeout:      usualTimeout,
		Dependencies: []string{"loki"},
	},
	{
		Name: "osc", Title: "Sandboxed containers",
		Description: "Runs containers in virtual machines of their own.",
		Feature:     openshift.FeatureOSC,
		Subscription: Subscription{
			Namespace: "openshift-sandboxed-containers-operator", Name: "sandboxed-containers-operator",
			Group: "sandboxed-containers-operator-group", OwnNamespace: true,
		},
		Timeout:      longTimeout,
		Dependencies: []string{"node-feature-discovery"},
		Needs:        Needs{Master: everyNode, Worker: everyNode},
		ownNeed:      true,
	},
	{
		Name: "pipelines", Title: "Pipelines",
		Description: "Runs pipelines that build and deliver software.",
		Feature:     openshift.FeaturePipelines,
		Subscription: Subscription{
			Namespace: "openshift-operators", Name: "openshift-pipelines-operator-rh",
			Channel: "latest",
		},
		Timeout: usualTimeout,
	},
	{
		Name: "self-node-remediation", Title: "Self node remediation",
		Description: "Has unhealthy nodes restart themselves.",
		Feature:     openshift.FeatureSelfNodeRemediation,
		Subscription: Subscription{
			Namespace: "openshift-workload-availability", Name: "self-node-remediation",
			Channel: "stable", Group: "openshift-node-availability",
		},
		Timeout:      usualTimeout,
		Dependencies: []string{"node-healthcheck"},
	},
	{
		Name: "serverless", Title: "Serverless",
		Description: "Runs services that scale to zero.",
		Feature:     openshift.FeatureServerless,
		Subscription: Subscription{
			Namespace: "openshift-serverless", Name: "serverless-operator",
			Channel: "stable", Group: "openshift-serverless",
		},
		Timeout: usualTimeout,
	},
	{
		Name: "servicemesh", Title: "Service mesh",
		Description: "Controls and secures the traffic between services.",
		Feature:     openshift.FeatureServiceMesh,
		Subscription: Subscription{
			Namespace: "openshift-operators", Name: "servicemeshoperator",
			Channel: "stable",
		},
		Timeout: usualTimeout,
	},
}
