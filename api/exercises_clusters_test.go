package api_test

import (
	"net/http"

	"github.com/google/uuid"

	"slipway/internal/model"
)

// onCluster makes an exercise's request of a cluster in a status.
func onCluster(status model.ClusterStatus, how func(path string) call) func(*fixture) call {
	return func(w *fixture) call { return how(clusterPath(w.at(status))) }
}

func getOf(rest string) func(string) call { return func(path string) call { return get(path + rest) } }

func postTo(rest string, body any) func(string) call {
	return func(path string) call { return post(path+rest, body) }
}

func putTo(rest string, body any) func(string) call {
	return func(path string) call { return put(path+rest, body) }
}

func patchAt(rest string, body any) func(string) call {
	return func(path string) call { return patch(path+rest, body) }
}

var clusterExercises = map[string]exercise{
	"v2RegisterCluster": {ok: func(*fixture) call {
		return post("/v2/clusters", object{"name": "a", "openshift_version": "4.22", "pull_secret": pullSecret})
	}},
	"v2ListClusters": {ok: func(w *fixture) call { w.defined(); return get("/v2/clusters?with_hosts=true") }},
	"v2GetCluster":   {ok: onCluster(model.ClusterInsufficient, getOf(""))},
	"v2DeregisterCluster": {
		ok:       onCluster(model.ClusterInsufficient, remove),
		conflict: onCluster(model.ClusterInstalling, remove),
	},
	"V2UpdateCluster": {
		ok:       onCluster(model.ClusterInsufficient, patchAt("", object{"tags": "a"})),
		conflict: onCluster(model.ClusterInstalling, patchAt("", object{"tags": "a"})),
	},
	"ListClusterHosts":             {ok: onCluster(model.ClusterInsufficient, getOf("/hosts?with-inventory=true"))},
	"GetClusterSupportedPlatforms": {ok: onCluster(model.ClusterInsufficient, getOf("/supported-platforms"))},
	"v2GetPreflightRequirements":   {ok: onCluster(model.ClusterInsufficient, getOf("/preflight-requirements"))},
	"V2GetClusterDefaultConfig":    {ok: func(*fixture) call { return get("/v2/clusters/default-config") }},
	"v2ImportCluster": {ok: func(*fixture) call {
		return post("/v2/clusters/import", object{"name": "a", "api_vip_dnsname": "api.a.example.com", "openshift_cluster_id": uuid.New()})
	}},
	"v2RegisterDisconnectedCluster": {ok: func(*fixture) call {
		return post("/v2/clusters/disconnected", object{"name": "a", "openshift_version": "4.22"})
	}},
	"TransformClusterToDay2": {
		ok:       onCluster(model.ClusterInstalled, postTo("/actions/allow-add-workers", nil)),
		conflict: onCluster(model.ClusterReady, postTo("/actions/allow-add-workers", nil)),
	},
	"TransformClusterToAddingHosts": {
		ok:       onCluster(model.ClusterInstalled, postTo("/actions/allow-add-hosts", nil)),
		conflict: onCluster(model.ClusterReady, postTo("/actions/allow-add-hosts", nil)),
	},
	"v2GetIgnoredValidations": {ok: onCluster(model.ClusterInsufficient, getOf("/ignored-validations"))},
	"v2SetIgnoredValidations": {
		ok: onCluster(model.ClusterInsufficient, putTo("/ignored-validations", object{
			"host-validation-ids": `["ntp-synced"]`, "cluster-validation-ids": `["all"]`,
		})),
		bad: onCluster(model.ClusterInsufficient, putTo("/ignored-validations", object{"host-validation-ids": `["connected"]`})),
	},
	"V2GetClusterUISettings":    {ok: onCluster(model.ClusterInsufficient, getOf("/ui-settings"))},
	"V2UpdateClusterUISettings": {ok: onCluster(model.ClusterInsufficient, putTo("/ui-settings", `"AI_UI:{}"`))},
	"v2GetClusterInstallConfig": {ok: onCluster(model.ClusterInsufficient, getOf("/install-config"))},
	"v2UpdateClusterInstallConfig": {
		ok:  onCluster(model.ClusterInsufficient, patchAt("/install-config", `"{\"fips\":true}"`)),
		bad: onCluster(model.ClusterInsufficient, patchAt("/install-config", `"{\"no\":true}"`)),
	},
	"V2ListClusterManifests": {ok: onCluster(model.ClusterInsufficient, getOf("/manifests"))},
	"V2CreateClusterManifest": {ok: onCluster(model.ClusterInsufficient, postTo("/manifests", object{
		"folder": "openshift", "file_name": "a.yaml", "content": "YXBpVmVyc2lvbjogdjEKa2luZDogQ29uZmlnTWFwCg==",
	}))},
	"V2UpdateClusterManifest": {
		ok: func(w *fixture) call {
			return patch(
				clusterPath(w.manifest(w.defined()))+"/manifests",
				object{"folder": "openshift", "file_name": "a.yaml", "updated_file_name": "b.yaml"},
			)
		},
	},
	"V2DeleteClusterManifest": {ok: func(w *fixture) call {
		return remove(clusterPath(w.manifest(w.defined())) + "/manifests?folder=openshift&file_name=a.yaml")
	}},
	"v2DownloadClusterManifest": {ok: func(w *fixture) call {
		return get(clusterPath(w.manifest(w.defined())) + "/manifests/files?folder=openshift&file_name=a.yaml")
	}},
	"v2ListEvents": {
		ok: func(w *fixture) call { return get("/v2/events?order=descending&cluster_id=" + w.defined().String()) },
	},
	"v2TriggerEvent": {
		ok: func(w *fixture) call {
			return post("/v2/events", object{"severity": "info", "message": "a", "event_time": now(), "cluster_id": w.defined()})
		},
		missing: func(*fixture) call {
			return post("/v2/events", object{"severity": "info", "message": "a", "event_time": now(), "cluster_id": uuid.New()})
		},
	},
}

var installExercises = map[string]exercise{
	"v2InstallCluster": {
		ok:       onCluster(model.ClusterReady, postTo("/actions/install", nil)),
		conflict: refused(onCluster(model.ClusterInsufficient, postTo("/actions/install", nil))),
	},
	"V2CancelInstallation": {
		ok:       onCluster(model.ClusterInstalling, postTo("/actions/cancel", nil)),
		conflict: refused(onCluster(model.ClusterReady, postTo("/actions/cancel", nil))),
	},
	"v2ResetCluster": {
		ok:       onCluster(model.ClusterError, postTo("/actions/reset", nil)),
		conflict: refused(onCluster(model.ClusterReady, postTo("/actions/reset", nil))),
	},
	"v2UpdateClusterFinalizingProgress": {
		ok: onCluster(model.ClusterFinalizing, putTo("/progress", object{"finalizing_stage": "Waiting for cluster operators"})),
	},
	"v2UploadClusterIngressCert": {
		ok: func(w *fixture) call {
			id := w.at(model.ClusterFinalizing)
			w.put(id, "kubeconfig-noingress", []byte(kubeconfig))
			return post(clusterPath(id)+"/uploads/ingress-cert", asText(ingressCert))
		},
	},
	"v2CompleteInstallation": {
		ok:       onCluster(model.ClusterFinalizing, postTo("/actions/complete-installation", object{"is_success": true})),
		conflict: onCluster(model.ClusterReady, postTo("/actions/complete-installation", object{"is_success": true})),
	},
	"v2UpdateClusterLogsProgress": {
		ok: onCluster(model.ClusterInstalling, putTo("/logs-progress", object{"logs_state": "requested"})),
	},
	"V2ListOfClusterOperators": {ok: onCluster(model.ClusterInsufficient, getOf("/monitored-operators"))},
	"v2ReportMonitoredOperatorStatus": {
		ok: onCluster(model.ClusterFinalizing, putTo("/monitored-operators", object{"name": "console", "status": "available"})),
	},
	"V2UploadLogs": {
		ok: func(w *fixture) call {
			return upload(http.MethodPost, clusterPath(w.at(model.ClusterInstalling))+"/logs?logs_type=controller")
		},
		bad: func(w *fixture) call {
			return upload(http.MethodPost, clusterPath(w.at(model.ClusterInstalling))+"/logs?logs_type=host")
		},
	},
	"V2DownloadClusterLogs": {
		ok: func(w *fixture) call {
			path := clusterPath(w.at(model.ClusterInstalling)) + "/logs"
			w.do(upload(http.MethodPost, path+"?logs_type=controller"))
			return get(path + "?logs_type=controller")
		},
		bad: onCluster(model.ClusterInstalling, getOf("/logs?logs_type=host")),
	},
}
