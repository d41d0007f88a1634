package operators

import (
	"time"

	"slipway/internal/cluster/features"
	"slipway/internal/cluster/hardware"
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
		Feature: features.Row{
			ID:     "AMD_GPU",
			Level:  features.LevelDevPreview,
			Limits: []features.Limit{features.NotOn(model.ARM64, model.PPC64LE, model.S390X)},
		},
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
		Feature: features.Row{
			ID:     "AUTHORINO",
			Level:  features.LevelDevPreview,
			Limits: []features.Limit{features.NotOn(model.ARM64)},
		},
		Subscription: Subscription{
			Namespace: "openshift-operators", Name: "authorino-operator",
			Channel: "tech-preview-v1",
		},
		Timeout: usualTimeout,
	},
	{
		Name: "cluster-observability", Title: "Cluster observability",
		Description: "Manages monitoring stacks and the observability pages of the console.",
		Feature:     features.Row{ID: "CLUSTER_OBSERVABILITY"},
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
		Feature:     features.Row{ID: features.FenceAgentsRemediation, Excludes: features.Never(features.SNO)},
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
		Feature:     features.Row{ID: "KMM", Level: features.LevelDevPreview},
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
		Feature:     features.Row{ID: features.KubeDescheduler, Excludes: features.Never(features.SNO)},
		Subscription: Subscription{
			Namespace: "openshift-kube-descheduler-operator", Name: "cluster-kube-descheduler-operator",
			Channel: "stable", Group: "openshift-node-availability", OwnNamespace: true, ClusterMonitoring: true,
		},
		Timeout: usualTimeout,
	},
	{
		Name: "loki", Title: "Loki",
		Description: "Stores logs; the object storage it needs is set up once the cluster runs.",
		Feature:     features.Row{ID: "LOKI", Limits: []features.Limit{features.Since("4.17")}},
		Subscription: Subscription{
			Namespace: "openshift-operators-redhat", Name: "loki-operator",
			Group: "loki-operator", ClusterMonitoring: true,
		},
		Timeout: usualTimeout,
	},
	{
		Name: "lso", Title: "Local storage",
		Description: "Offers disks of nodes as volumes.",
		Feature:     features.Row{ID: features.LSO, Limits: []features.Limit{features.NotOn(model.ARM64)}},
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
		Feature: features.Row{
			ID:       features.MCE,
			Limits:   []features.Limit{features.Since("4.10"), features.NotFor(features.Nutanix)},
			Excludes: features.Never(features.Nutanix),
		},
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
		Feature:     features.Row{ID: "METALLB"},
		Subscription: Subscription{
			Namespace: "metallb-system", Name: "metallb-operator",
			Channel: "stable", Group: "metallb",
		},
		Timeout: usualTimeout,
	},
	{
		Name: "mtv", Title: "Migration toolkit for virtualization",
		Description: "Brings virtual machines from other platforms.",
		Feature: features.Row{
			ID: features.MTV,
			Limits: []features.Limit{
				features.NotOn(model.ARM64, model.S390X, model.PPC64LE),
				features.NotFor(features.VSphere, features.Nutanix),
				features.Since("4.14"),
			},
			Excludes: features.Never(features.Nutanix, features.VSphere),
		},
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
		Feature: features.Row{
			ID: features.NMState,
			Limits: []features.Limit{
				features.NotOn(model.ARM64, model.S390X, model.PPC64LE),
				features.NotFor(features.Nutanix, features.External),
				features.Since("4.12"),
			},
			Excludes: features.Never(features.Nutanix, features.External, features.ExternalOCI),
		},
		Subscription: Subscription{
			Namespace: "openshift-nmstate", Name: "kubernetes-nmstate-operator",
			Channel: "stable", Group: "openshift-nmstate", OwnNamespace: true,
		},
		Timeout: longTimeout,
	},
	{
		Name: "node-feature-discovery", Title: "Node feature discovery",
		Description: "Labels nodes with the hardware they have.",
		Feature: features.Row{
			ID:     "NODE_FEATURE_DISCOVERY",
			Level:  features.LevelDevPreview,
			Limits: []features.Limit{features.NotOn(model.PPC64LE, model.S390X), features.Since("4.6")},
		},
		Subscription: Subscription{
			Namespace: "openshift-nfd", Name: "nfd",
			Channel: "stable", Group: "openshift-nfd", OwnNamespace: true, ClusterMonitoring: true,
		},
		Timeout: usualTimeout,
	},
	{
		Name: "node-healthcheck", Title: "Node health check",
		Description: "Finds unhealthy nodes and has them remedied.",
		Feature:     features.Row{ID: features.NodeHealthcheck, Excludes: features.Never(features.SNO)},
		Subscription: Subscription{
			Namespace: "openshift-workload-availability", Name: "node-healthcheck-operator",
			Channel: "stable", Group: "openshift-node-availability",
		},
		Timeout: usualTimeout,
		// Versions before 25.1 install it themselves; later versions leave the choice of a remediation to the user.
		brings: func(*Plan) []string { return []string{"self-node-remediation"} },
	},
	{
		Name: "node-maintenance", Title: "Node maintenance",
		Description: "Drains nodes for maintenance and takes them back.",
		Feature:     features.Row{ID: features.NodeMaintenance, Excludes: features.Never(features.SNO)},
		Subscription: Subscription{
			Namespace: "openshift-workload-maintenance", Name: "node-maintenance-operator",
			Channel: "stable", Group: "openshift-node-availability",
		},
		Timeout: usualTimeout,
	},
	{
		Name: "numaresources", Title: "NUMA resources",
		Description: "Places work that is sensitive to NUMA on fitting nodes.",
		Feature:     features.Row{ID: "NUMA_RESOURCES"},
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
		Feature:     features.Row{ID: "OADP"},
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
		Feature:     features.Row{ID: "OPENSHIFT_LOGGING", Limits: []features.Limit{features.Since("4.17")}},
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
		Feature: features.Row{
			ID: features.OSC,
			Limits: []features.Limit{
				features.NotOn(model.ARM64, model.S390X, model.PPC64LE),
				features.NotFor(features.VSphere, features.Nutanix),
				features.Since("4.10"),
			},
			Excludes: features.Never(features.Nutanix, features.VSphere),
		},
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
		Feature:     features.Row{ID: "PIPELINES", Level: features.LevelDevPreview},
		Subscription: Subscription{
			Namespace: "openshift-operators", Name: "openshift-pipelines-operator-rh",
			Channel: "latest",
		},
		Timeout: usualTimeout,
	},
	{
		Name: "self-node-remediation", Title: "Self node remediation",
		Description: "Has unhealthy nodes restart themselves.",
		Feature: features.Row{
			ID:       features.SelfNodeRemediation,
			Level:    features.LevelTechPreview,
			Excludes: features.Never(features.SNO),
		},
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
		Feature:     features.Row{ID: "SERVERLESS", Level: features.LevelDevPreview},
		Subscription: Subscription{
			Namespace: "openshift-serverless", Name: "serverless-operator",
			Channel: "stable", Group: "openshift-serverless",
		},
		Timeout: usualTimeout,
	},
	{
		Name: "servicemesh", Title: "Service mesh",
		Description: "Controls and secures the traffic between services.",
		Feature:     features.Row{ID: "SERVICEMESH", Level: features.LevelDevPreview},
		Subscription: Subscription{
			Namespace: "openshift-operators", Name: "servicemeshoperator",
			Channel: "stable",
		},
		Timeout: usualTimeout,
	},
}
