package api_test

import (
	"encoding/json"

	"github.com/google/uuid"

	"slipway/internal/model"
)

const (
	kubeconfig = "apiVersion: v1\nkind: Config\nclusters:\n- name: a\n  cluster:\n    server: https://api.a.example.com:6443\n    " +
		"ingressCert-authority-data: \"\"\n"
	ignition    = `{"ignition":{"version":"3.2.0"}}`
	ingressCert = `-----BEGIN CERTIFICATE-----
MIIBhTCCASugAwIBAgIQIRi6zePL6mKjOipn+dNuaTAKBggqhkjOPQQDAjASMRAw
DgYDVQQKEwdBY21lIENvMB4XDTE3MTAyMDE5NDMwNloXDTE4MTAyMDE5NDMwNlow
EjEQMA4GA1UEChMHQWNtZSBDbzBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABD0d
7VNhbWvZLWPuj/RtHFjvtJBEwOkhbN/BnnE8rnZR8+sbwnc/KhCk3FhnpHZnQz7B
5aETbbIgmuvewdjvSBSjYzBhMA4GA1UdDwEB/wQEAwICpDATBgNVHSUEDDAKBggr
BgEFBQcDATAPBgNVHRMBAf8EBTADAQH/MCkGA1UdEQQiMCCCDmxvY2FsaG9zdDo1
NDUzgg4xMjcuMC4wLjE6NTQ1MzAKBggqhkjOPQQDAgNIADBFAiEA2zpJEPQyz6/l
Wf86aX6PepsntZv2GYlA5UpabfT2EZICICpJ5h/iI+i341gBmLiAFQOyTDT+/wQc
6MF9+Yw1Yy0t
-----END CERTIFICATE-----
`
)

func asText(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

var fileExercises = map[string]exercise{
	"V2GetCredentials": {
		ok:       func(w *fixture) call { return get(clusterPath(w.installed()) + "/credentials") },
		conflict: onCluster(model.ClusterReady, getOf("/credentials")),
	},
	"V2DownloadClusterCredentials": {
		ok: func(w *fixture) call {
			return get(clusterPath(w.installed()) + "/downloads/credentials?file_name=kubeconfig")
		},
		conflict: onCluster(model.ClusterReady, getOf("/downloads/credentials?file_name=kubeconfig")),
	},
	"V2GetPresignedForClusterCredentials": {
		ok: func(w *fixture) call {
			return get(clusterPath(w.installed()) + "/downloads/credentials-presigned?file_name=kubeconfig")
		},
		conflict: onCluster(model.ClusterReady, getOf("/downloads/credentials-presigned?file_name=kubeconfig")),
	},
	"V2DownloadClusterFiles": {
		ok: func(w *fixture) call {
			return get(clusterPath(w.installed()) + "/downloads/files?file_name=master.ign")
		},
		conflict: onCluster(model.ClusterReady, getOf("/downloads/files?file_name=master.ign")),
	},
	"V2GetPresignedForClusterFiles": {
		ok: func(w *fixture) call {
			return get(clusterPath(w.installed()) + "/downloads/files-presigned?file_name=master.ign")
		},
		bad:      onCluster(model.ClusterReady, getOf("/downloads/files-presigned?file_name=manifests")),
		conflict: onCluster(model.ClusterReady, getOf("/downloads/files-presigned?file_name=master.ign")),
	},
	"v2DownloadHostIgnition": {
		ok: func(w *fixture) call {
			h := w.prepared()
			return get("/v2/infra-env/" + h.InfraEnvID.String() + "/hosts/" + h.ID.String() + "/downloads/ignition")
		},
		conflict: func(w *fixture) call {
			h := w.member(w.defined(), model.HostKnown)
			return get("/v2/infra-env/" + h.InfraEnvID.String() + "/hosts/" + h.ID.String() + "/downloads/ignition")
		},
	},
	"v2GetHostIgnition": {
		ok:       func(w *fixture) call { return get(with(w.prepared(), "/ignition")) },
		conflict: onMember(model.HostKnown, getOf("/ignition")),
	},
}

var infraEnvExercises = map[string]exercise{
	"RegisterInfraEnv": {
		ok: func(w *fixture) call {
			return post("/v2/infra-envs", object{"name": "a", "pull_secret": pullSecret, "cluster_id": w.defined()})
		},
		missing: func(*fixture) call {
			return post("/v2/infra-envs", object{"name": "a", "pull_secret": pullSecret, "cluster_id": uuid.New()})
		},
	},
	"ListInfraEnvs":  {ok: func(w *fixture) call { return get("/v2/infra-envs?cluster_id=" + w.defined().String()) }},
	"GetInfraEnv":    {ok: onEnv(getOf(""))},
	"UpdateInfraEnv": {ok: onEnv(patchAt("", object{"additional_ntp_sources": "ntp.example.com"}))},
	"DeregisterInfraEnv": {
		ok: onEnv(remove),
		conflict: func(w *fixture) call {
			return remove("/v2/infra-envs/" + w.member(w.defined(), model.HostInstalling).InfraEnvID.String())
		},
	},
	"GetInfraEnvDownloadURL":       {ok: onEnv(getOf("/downloads/image-url"))},
	"RegenerateInfraEnvSigningKey": {ok: onEnv(postTo("/regenerate-signing-key", nil))},
	"DownloadMinimalInitrd":        {ok: onEnv(getOf("/downloads/minimal-initrd"))},
	"v2DownloadInfraEnvFiles": {
		ok: onEnv(getOf("/downloads/files?file_name=discovery.ign")),
		conflict: func(w *fixture) call { // the service has no agent for its hosts
			body := map[string]any{"name": "z", "pull_secret": pullSecret, "cpu_architecture": "s390x"}
			return get(
				w.do(post("/v2/infra-envs", body)).Object()["href"].(string)[len(base):] + "/downloads/files?file_name=discovery.ign",
			)
		},
	},
	"GetInfraEnvPresignedFileURL": {ok: onEnv(getOf("/downloads/files-presigned?file_name=discovery.ign"))},
}

// onEnv makes an exercise's request of an InfraEnv.
func onEnv(how func(path string) call) func(*fixture) call {
	return func(w *fixture) call { return how("/v2/infra-envs/" + w.infraEnv(uuid.Nil).ID.String()) }
}

// onMember makes a call about a host in a cluster.
func onMember(status model.HostStatus, how func(path string) call) func(*fixture) call {
	return func(w *fixture) call { return how(with(w.member(w.defined(), status), "")) }
}

var hostExercises = map[string]exercise{
	"v2RegisterHost": {ok: onEnv(postTo("/hosts", object{"host_id": uuid.New()}))},
	"v2ListHosts":    {ok: onEnv(getOf("/hosts"))},
	"v2GetHost":      {ok: onMember(model.HostKnown, getOf(""))},
	"v2UpdateHost": {
		ok:       onMember(model.HostKnown, patchAt("", object{"host_name": "a"})),
		conflict: onMember(model.HostInstalling, patchAt("", object{"host_name": "a"})),
	},
	"v2DeregisterHost": {
		ok:       onMember(model.HostKnown, remove),
		conflict: onMember(model.HostInstalling, remove),
	},
	"v2GetNextSteps": {ok: onMember(model.HostKnown, getOf("/instructions"))},
	"v2PostStepReply": {
		ok: onMember(
			model.HostKnown,
			postTo(
				"/instructions",
				object{"step_type": "ntp-synchronizer", "step_id": "a", "exit_code": 0, "output": `{"ntp_sources":[]}`},
			),
		),
	},
	"v2UpdateHostInstallProgress": {
		ok: onMember(model.HostInstalling, putTo("/progress", object{"current_stage": "Installing"})),
		conflict: func(w *fixture) call {
			h := w.member(w.defined(), model.HostDiscovering)
			w.changeHost(h.InfraEnvID, h.ID, func(h *model.Host) { h.Role = model.RoleMaster })
			return put(with(h, "/progress"), object{"current_stage": "Installing"})
		},
	},
	"v2UpdateHostLogsProgress": {ok: onMember(model.HostInstalling, putTo("/logs-progress", object{"logs_state": "requested"}))},
	"BindHost": {
		ok: func(w *fixture) call {
			return post(with(w.pooled(model.HostKnownUnbound), "/actions/bind"), object{"cluster_id": w.defined()})
		},
		conflict: func(w *fixture) call {
			return post(with(w.boundLater(model.HostKnown), "/actions/bind"), object{"cluster_id": w.defined()})
		},
	},
	"UnbindHost": {
		ok:       func(w *fixture) call { return post(with(w.boundLater(model.HostKnown), "/actions/unbind"), nil) },
		conflict: func(w *fixture) call { return post(with(w.pooled(model.HostKnownUnbound), "/actions/unbind"), nil) },
	},
	"v2ResetHostValidation": {
		ok:  onMember(model.HostKnown, patchAt("/actions/reset-validation/container-images-available", nil)),
		bad: onMember(model.HostKnown, patchAt("/actions/reset-validation/connected", nil)),
	},
	"v2ResetHost": {
		ok:       func(w *fixture) call { return post(with(w.joining(model.HostError), "/actions/reset"), nil) },
		conflict: refused(onMember(model.HostKnown, postTo("/actions/reset", nil))),
	},
	"v2InstallHost": {
		ok:       func(w *fixture) call { return post(with(w.joining(model.HostKnown), "/actions/install"), nil) },
		conflict: refused(onMember(model.HostKnown, postTo("/actions/install", nil))),
	},
	"v2UpdateHostInstallerArgs": {
		ok:       onMember(model.HostKnown, patchAt("/installer-args", object{"args": []string{"--append-karg", "a=b"}})),
		bad:      onMember(model.HostKnown, patchAt("/installer-args", object{"args": []string{"--rm"}})),
		conflict: onMember(model.HostInstalling, patchAt("/installer-args", object{"args": []string{}})),
	},
	"v2UpdateHostIgnition": {
		ok:       onMember(model.HostKnown, patchAt("/ignition", object{"config": ignition})),
		bad:      onMember(model.HostKnown, patchAt("/ignition", object{"config": "{"})),
		conflict: onMember(model.HostInstalling, patchAt("/ignition", object{"config": ignition})),
	},
}

var catalogueExercises = map[string]exercise{
	"v2ListComponentVersions": {ok: func(*fixture) call { return get("/v2/component-versions") }},
	"v2ListSupportedOpenshiftVersions": {
		ok:  func(*fixture) call { return get("/v2/openshift-versions?only_latest=true") },
		bad: func(*fixture) call { return get("/v2/openshift-versions?version=newest") },
	},
	"v2ListReleaseSources":     {ok: func(*fixture) call { return get("/v2/release-sources") }},
	"V2ListManagedDomains":     {ok: func(*fixture) call { return get("/v2/domains") }},
	"V2ListSupportedOperators": {ok: func(*fixture) call { return get("/v2/supported-operators") }},
	"V2ListOperatorProperties": {
		ok:      func(*fixture) call { return get("/v2/supported-operators/lvm") },
		missing: func(*fixture) call { return get("/v2/supported-operators/nothing") },
	},
	"V2ListBundles": {
		ok:  func(*fixture) call { return get("/v2/operators/bundles?openshift_version=4.22") },
		bad: func(*fixture) call { return get("/v2/operators/bundles?openshift_version=x") },
	},
	"V2GetBundle": {
		ok:      func(*fixture) call { return get("/v2/operators/bundles/virtualization") },
		missing: func(*fixture) call { return get("/v2/operators/bundles/nothing") },
	},
	"GetSupportedFeatures": {
		ok:  func(*fixture) call { return get("/v2/support-levels/features?openshift_version=4.22") },
		bad: func(*fixture) call { return get("/v2/support-levels/features?openshift_version=x") },
	},
	"GetDetailedSupportedFeatures": {
		ok:  func(*fixture) call { return get("/v2/support-levels/features/detailed?openshift_version=4.22") },
		bad: func(*fixture) call { return get("/v2/support-levels/features/detailed?openshift_version=x") },
	},
	"GetSupportedArchitectures": {
		ok:  func(*fixture) call { return get("/v2/support-levels/architectures?openshift_version=4.22") },
		bad: func(*fixture) call { return get("/v2/support-levels/architectures?openshift_version=x") },
	},
}
