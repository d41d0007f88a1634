package client_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"slipway/internal/client"
	"slipway/internal/wire"
)

// operation is a call and what it must look like on the wire (docs/reference/wire.md,
// "Success codes").
type operation struct {
	call   func(context.Context, *client.Client) error
	line   string // method, path and query
	ok     int
	answer string
	body   string // what is sent; empty: nothing
}

func operations() map[string]operation {
	return map[string]operation{
		"RegisterHost": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.RegisterHost(ctx, envID, hostID)
				return err
			}, "POST " + envPath + "/hosts", 201, `{}`, `{"discovery_agent_version":"1.2","host_id":"` + hostID.String() + `"}`,
		},
		"NextSteps": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.NextSteps(ctx, envID, hostID, time.Unix(1700000000, 0))
				return err
			}, "GET " + hostPath + "/instructions?timestamp=1700000000", 200, `{}`, "",
		},
		"PostReply": {
			func(ctx context.Context, c *client.Client) error {
				return c.PostReply(ctx, envID, hostID, wire.StepReply{StepID: "a-1", StepType: "inventory", Output: "{}"})
			}, "POST " + hostPath + "/instructions", 204, "", `{"output":"{}","step_id":"a-1","step_type":"inventory"}`,
		},
		"UpdateHostProgress": {
			func(ctx context.Context, c *client.Client) error {
				return c.UpdateHostProgress(ctx, envID, hostID, wire.HostStageWritingImageToDisk, "5%")
			}, "PUT " + hostPath + "/progress", 200, "", `{"current_stage":"Writing image to disk","progress_info":"5%"}`,
		},
		"HostLogsProgress": {
			func(ctx context.Context, c *client.Client) error {
				return c.HostLogsProgress(ctx, envID, hostID, wire.LogsStateRequested)
			}, "PUT " + hostPath + "/logs-progress", 204, "", `{"logs_state":"requested"}`,
		},
		"HostIgnition": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.HostIgnition(ctx, envID, hostID)
				return err
			}, "GET " + strings.Replace(hostPath, "infra-envs", "infra-env", 1) + "/downloads/ignition", 200, "bytes", "",
		},
		"ClusterFile": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.ClusterFile(ctx, clusterID, "bootstrap.ign")
				return err
			}, "GET " + clusterPath + "/downloads/files?file_name=bootstrap.ign", 200, "bytes", "",
		},
		"ClusterCredentialsFile": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.ClusterCredentialsFile(ctx, clusterID, "kubeconfig")
				return err
			}, "GET " + clusterPath + "/downloads/credentials?file_name=kubeconfig", 200, "bytes", "",
		},
		"Cluster": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.Cluster(ctx, clusterID)
				return err
			}, "GET " + clusterPath, 200, `{}`, "",
		},
		"ClusterWithoutHosts": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.ClusterWithoutHosts(ctx, clusterID)
				return err
			}, "GET " + clusterPath + "?exclude-hosts=true", 200, `{}`, "",
		},
		"ClusterHosts": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.ClusterHosts(ctx, clusterID, "master")
				return err
			}, "GET " + clusterPath + "/hosts?role=master", 200, `[]`, "",
		},
		"UpdateCluster": {
			func(ctx context.Context, c *client.Client) error {
				name := "b"
				_, err := c.UpdateCluster(ctx, clusterID, wire.V2ClusterUpdateParams{Name: &name})
				return err
			}, "PATCH " + clusterPath, 201, `{}`, `{"name":"b"}`,
		},
		"InstallCluster": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.InstallCluster(ctx, clusterID)
				return err
			}, "POST " + clusterPath + "/actions/install", 202, `{}`, "",
		},
		"CancelCluster": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.CancelCluster(ctx, clusterID)
				return err
			}, "POST " + clusterPath + "/actions/cancel", 202, `{}`, "",
		},
		"ResetCluster": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.ResetCluster(ctx, clusterID)
				return err
			}, "POST " + clusterPath + "/actions/reset", 202, `{}`, "",
		},
		"DeleteCluster": {
			func(ctx context.Context, c *client.Client) error { return c.DeleteCluster(ctx, clusterID) },
			"DELETE " + clusterPath, 204, "", "",
		},
		"ListClusters": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.ListClusters(ctx, false)
				return err
			}, "GET /v2/clusters?with_hosts=false", 200, `[]`, "",
		},
		"Audit": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.Audit(ctx, client.AuditQuery{
					User: "ann", Outcome: "refused", ClusterID: clusterID, Since: time.Unix(1700000000, 0), Limit: 5, PageToken: "7",
				})
				return err
			},
			"GET /api/slipway/v1/audit?cluster_id=" + clusterID.String() +
				"&limit=5&outcome=refused&page_token=7&since=2023-11-14T22%3A13%3A20Z&user=ann",
			200, `{}`, "",
		},
		"ListInfraEnvs": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.ListInfraEnvs(ctx, clusterID)
				return err
			}, "GET /v2/infra-envs?cluster_id=" + clusterID.String(), 200, `[]`, "",
		},
		"DeleteInfraEnv": {
			func(ctx context.Context, c *client.Client) error { return c.DeleteInfraEnv(ctx, envID) },
			"DELETE " + envPath, 204, "", "",
		},
		"UpdateHost": {
			func(ctx context.Context, c *client.Client) error {
				name := "h"
				_, err := c.UpdateHost(ctx, envID, hostID, wire.HostUpdateParams{HostName: &name})
				return err
			}, "PATCH " + hostPath, 201, `{}`, `{"host_name":"h"}`,
		},
		"ResetHost": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.ResetHost(ctx, envID, hostID)
				return err
			}, "POST " + hostPath + "/actions/reset", 200, `{}`, "",
		},
		"InstallHost": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.InstallHost(ctx, envID, hostID)
				return err
			}, "POST " + hostPath + "/actions/install", 202, `{}`, "",
		},
		"BindHost": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.BindHost(ctx, envID, hostID, clusterID)
				return err
			}, "POST " + hostPath + "/actions/bind", 200, `{}`, `{"cluster_id":"` + clusterID.String() + `"}`,
		},
		"UnbindHost": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.UnbindHost(ctx, envID, hostID)
				return err
			}, "POST " + hostPath + "/actions/unbind", 200, `{}`, "",
		},
		"DeleteHost": {
			func(ctx context.Context, c *client.Client) error { return c.DeleteHost(ctx, envID, hostID) },
			"DELETE " + hostPath, 204, "", "",
		},
		"CreateManifest": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.CreateManifest(
					ctx,
					clusterID,
					wire.CreateManifestParams{FileName: "a.yaml", Content: "eA==", Folder: "manifests"},
				)
				return err
			}, "POST " + clusterPath + "/manifests", 201, `{}`, `{"content":"eA==","file_name":"a.yaml","folder":"manifests"}`,
		},
		"DeleteManifest": {
			func(ctx context.Context, c *client.Client) error {
				return c.DeleteManifest(ctx, clusterID, "openshift", "a.yaml")
			}, "DELETE " + clusterPath + "/manifests?file_name=a.yaml&folder=openshift", 200, "", "",
		},
		"FinalizingProgress": {
			func(ctx context.Context, c *client.Client) error {
				return c.FinalizingProgress(ctx, clusterID, "Adding router ca")
			}, "PUT " + clusterPath + "/progress", 200, "", `{"finalizing_stage":"Adding router ca"}`,
		},
		"ReportOperator": {
			func(ctx context.Context, c *client.Client) error {
				return c.ReportOperator(ctx, clusterID, wire.OperatorMonitorReport{Name: "cvo", Status: "available"})
			}, "PUT " + clusterPath + "/monitored-operators", 200, "", `{"name":"cvo","status":"available"}`,
		},
		"UploadIngressCert": {
			func(ctx context.Context, c *client.Client) error { return c.UploadIngressCert(ctx, clusterID, "PEM") },
			"POST " + clusterPath + "/uploads/ingress-cert", 201, "", `"PEM"`,
		},
		"CompleteInstallation": {
			func(ctx context.Context, c *client.Client) error {
				return c.CompleteInstallation(ctx, clusterID, wire.CompletionParams{IsSuccess: true})
			}, "POST " + clusterPath + "/actions/complete-installation", 202, "", `{"is_success":true}`,
		},
		"ClusterLogsProgress": {
			func(ctx context.Context, c *client.Client) error {
				return c.ClusterLogsProgress(ctx, clusterID, wire.LogsStateCompleted)
			}, "PUT " + clusterPath + "/logs-progress", 204, "", `{"logs_state":"completed"}`,
		},
		"Events": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.Events(
					ctx,
					client.EventQuery{
						ClusterID:  clusterID,
						Limit:      5,
						Descending: true,
						Severities: []wire.EventSeverity{"error", "critical"},
					},
				)
				return err
			}, "GET /v2/events?cluster_id=" + clusterID.String() + "&limit=5&order=descending&severities=error%2Ccritical", 200, `[]`, "",
		},
		"UpdateInstallConfig": {
			func(ctx context.Context, c *client.Client) error {
				return c.UpdateInstallConfig(ctx, clusterID, `{"fips":true}`)
			}, "PATCH " + clusterPath + "/install-config", 201, "", `"{\"fips\":true}"`,
		},
		"CreateToken": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.CreateToken(ctx, wire.UserTokenCreateParams{UserName: "ann", Role: "user", ExpirationSeconds: 3600})
				return err
			}, "POST /api/slipway/v1/tokens", 201, `{"id":"` + hostID.String() + `","token":"eyJ"}`,
			`{"user_name":"ann","role":"user","expiration_seconds":3600}`,
		},
		"SignInAt": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.SignInAt(ctx)
				return err
			}, "GET /api/slipway/sign-in", 200, `{"issuer":"https://sso.example.com","client_id":"slipway","scopes":["openid"]}`, "",
		},
		"SignIn": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.SignIn(ctx)
				return err
			}, "POST /api/slipway/v1/sign-in", 201, `{"id":"` + hostID.String() + `","token":"eyJ"}`, "",
		},
		"Tokens": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.Tokens(ctx)
				return err
			}, "GET /api/slipway/v1/tokens", 200, `[{"id":"` + hostID.String() + `","user_name":"ann"}]`, "",
		},
		"IssuerUsers": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.IssuerUsers(ctx)
				return err
			}, "GET /api/slipway/v1/issuer-users", 200, `[{"name":"oidc:ann","issuer":"https://sso","subject":"1"}]`, "",
		},
		"ForgetIssuerUser": {
			func(ctx context.Context, c *client.Client) error { return c.ForgetIssuerUser(ctx, "oidc:a b") },
			"DELETE /api/slipway/v1/issuer-users?name=oidc%3Aa+b", 204, "", "",
		},
		"RevokeToken": {
			func(ctx context.Context, c *client.Client) error {
				return c.RevokeToken(ctx, hostID)
			}, "DELETE /api/slipway/v1/tokens/" + hostID.String(), 204, "", "",
		},
		"OSImages": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.OSImages(ctx)
				return err
			}, "GET /api/slipway/v1/os-images", 200, `[{"openshift_version":"4.22","cpu_architecture":"arm64","version":"9.8"}]`, "",
		},
		"DeletedClusters": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.DeletedClusters(ctx)
				return err
			}, "GET /api/slipway/v1/deleted-clusters", 200, `[{"id":"` + clusterID.String() + `","name":"lab"}]`, "",
		},
		"BootArtifacts": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.BootArtifacts(ctx, envID)
				return err
			}, "GET /api/slipway/v1/infra-envs/" + envID.String() + "/boot-artifacts", 200, `{"kernel_url":"https://a/kernel"}`, "",
		},
		"Usage": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.Usage(ctx, envID)
				return err
			}, "GET /api/slipway/v1/infra-envs/" + envID.String() + "/usage", 200, `{"bytes":1,"limit_bytes":2}`, "",
		},
		"Installations": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.Installations(ctx, 20, 40)
				return err
			}, "GET /api/slipway/v1/installations?limit=20&offset=40", 200, `{"installations":[]}`, "",
		},
		"ClusterPage": {
			func(ctx context.Context, c *client.Client) error {
				page, err := c.ClusterPage(ctx, client.ClusterQuery{
					Page: client.Page{Limit: 5, Token: "t"}, Name: "lab", Tags: []string{"edge"}, UpdatedSince: time.Unix(1700000000, 0),
					Statuses: []wire.ClusterStatus{wire.ClusterStatusReady, wire.ClusterStatusInstalled},
				})
				if err == nil && (len(page.Clusters) != 1 || page.NextPageToken != "u") {
					return fmt.Errorf("read %+v", page)
				}
				return err
			}, "GET /api/slipway/v1/clusters?limit=5&name=lab&page_token=t&status=ready&status=installed&tag=edge" +
				"&updated_since=2023-11-14T22%3A13%3A20Z", 200, `{"clusters":[{"name":"lab"}],"next_page_token":"u"}`, "",
		},
		"HostPage": {
			func(ctx context.Context, c *client.Client) error {
				page, err := c.HostPage(ctx, client.HostQuery{
					ClusterID: clusterID, InfraEnvID: envID, Roles: []wire.HostRole{wire.HostRoleWorker}, Labels: []string{"site=lab"}, Whole: true,
				})
				if err == nil && (len(page.Hosts) != 1 || page.NextPageToken != "") {
					return fmt.Errorf("read %+v", page)
				}
				return err
			}, "GET /api/slipway/v1/hosts?cluster_id=" + clusterID.String() + "&infra_env_id=" + envID.String() +
				"&label=site%3Dlab&role=worker&with_connectivity=true&with_inventory=true", 200, `{"hosts":[{"role":"worker"}]}`, "",
		},
		"EventPage": {
			func(ctx context.Context, c *client.Client) error {
				page, err := c.EventPage(ctx, client.EventPageQuery{
					HostID: hostID, Severities: []wire.EventSeverity{wire.EventSeverityError}, Since: time.Unix(1700000000, 0),
				})
				if err == nil && len(page.Events) != 1 {
					return fmt.Errorf("read %+v", page)
				}
				return err
			}, "GET /api/slipway/v1/events?host_id=" + hostID.String() + "&severity=error&since=2023-11-14T22%3A13%3A20Z",
			200, `{"events":[{"message":"a"}]}`, "",
		},
		"Timeline": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.Timeline(ctx, clusterID, 50, 20)
				return err
			}, "GET /api/slipway/v1/clusters/" + clusterID.String() + "/timeline?events_offset=50&hosts_offset=20", 200, `{"hosts":[]}`, "",
		},
		"KubeObjects": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.KubeObjects(ctx)
				return err
			}, "GET /api/slipway/v1/kube-objects", 200,
			`[{"kind":"cluster","id":"` + clusterID.String() + `","namespace":"one","name":"c"}]`, "",
		},
		"Changes": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.Changes(ctx, "c.1", 0)
				return err
			}, "GET /api/slipway/v1/changes?after=c.1", 200, `{"cursor":"c.2","changes":[{"kind":"cluster","id":"` + clusterID.String() + `"}]}`, "",
		},
		"PauseCluster": {
			func(ctx context.Context, c *client.Client) error { return c.PauseCluster(ctx, clusterID) },
			"POST /api/slipway/v1" + clusterPath[len("/v2"):] + "/commands/pause", 202, "", "",
		},
		"ResumeCluster": {
			func(ctx context.Context, c *client.Client) error { return c.ResumeCluster(ctx, clusterID) },
			"POST /api/slipway/v1" + clusterPath[len("/v2"):] + "/commands/resume", 202, "", "",
		},
		"ExtendCluster": {
			func(ctx context.Context, c *client.Client) error { return c.ExtendCluster(ctx, clusterID) },
			"POST /api/slipway/v1" + clusterPath[len("/v2"):] + "/commands/extend", 202, "", "",
		},
		"RetryHostStep": {
			func(ctx context.Context, c *client.Client) error { return c.RetryHostStep(ctx, envID, hostID) },
			"POST /api/slipway/v1" + hostPath[len("/v2"):] + "/commands/retry-step", 202, "", "",
		},
		"ApproveHost": {
			func(ctx context.Context, c *client.Client) error { return c.ApproveHost(ctx, envID, hostID) },
			"POST /api/slipway/v1" + hostPath[len("/v2"):] + "/commands/approve", 202, "", "",
		},
		"EvictHost": {
			func(ctx context.Context, c *client.Client) error { return c.EvictHost(ctx, envID, hostID) },
			"POST /api/slipway/v1" + hostPath[len("/v2"):] + "/commands/evict", 202, "", "",
		},
		"ClusterRelease": {
			func(ctx context.Context, c *client.Client) error {
				release, err := c.ClusterRelease(ctx, clusterID)
				if err == nil && release.SignedBy != "OpenPGP key AB" {
					return fmt.Errorf("signed by %q", release.SignedBy)
				}
				return err
			}, "GET /api/slipway/v1/clusters/" + clusterID.String() + "/release", 200, `{"image":"a","signed_by":"OpenPGP key AB"}`, "",
		},
		"Workflow": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.Workflow(ctx, clusterID)
				return err
			}, "GET /api/slipway/v1" + clusterPath[len("/v2"):] + "/workflow", 200, `{"phase":"installing","hosts":[]}`, "",
		},
	}
}
