package client_test

import (
	"context"

	"slipway/internal/client"
	"slipway/internal/wire"
)

// settings lists the operations with which users set clusters, hosts and InfraEnvs up.
func settings() map[string]operation {
	ignored := `["all"]`
	return map[string]operation{
		"ImportCluster": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.ImportCluster(
					ctx,
					wire.ImportClusterParams{Name: "far", APIVipDnsname: "api.far", OpenshiftClusterID: clusterID},
				)
				return err
			}, "POST /v2/clusters/import", 201, `{}`,
			`{"name":"far","api_vip_dnsname":"api.far","openshift_cluster_id":"` + clusterID.String() + `"}`,
		},
		"SupportedPlatforms": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.SupportedPlatforms(ctx, clusterID)
				return err
			}, "GET " + clusterPath + "/supported-platforms", 200, `[]`, "",
		},
		"Requirements": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.Requirements(ctx, clusterID)
				return err
			}, "GET " + clusterPath + "/preflight-requirements", 200, `{}`, "",
		},
		"IgnoredValidations": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.IgnoredValidations(ctx, clusterID)
				return err
			}, "GET " + clusterPath + "/ignored-validations", 200, `{}`, "",
		},
		"IgnoreValidations": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.IgnoreValidations(ctx, clusterID, wire.IgnoredValidations{HostValidationIds: &ignored})
				return err
			}, "PUT " + clusterPath + "/ignored-validations", 201, `{}`, `{"host-validation-ids":"[\"all\"]"}`,
		},
		"ListManifests": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.ListManifests(ctx, clusterID, true)
				return err
			}, "GET " + clusterPath + "/manifests?include_system_generated=true", 200, `[]`, "",
		},
		"Manifest": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.Manifest(ctx, clusterID, "openshift", "a.yaml")
				return err
			}, "GET " + clusterPath + "/manifests/files?file_name=a.yaml&folder=openshift", 200, "bytes", "",
		},
		"SupportLevels": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.SupportLevels(ctx, client.Setting{Version: "4.20", Platform: "external", ExternalName: "oci"})
				return err
			}, "GET /v2/support-levels/features/detailed?external_platform_name=oci&openshift_version=4.20&platform_type=external", 200, `{}`, "",
		},
		"OperatorNames": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.OperatorNames(ctx)
				return err
			}, "GET /v2/supported-operators", 200, `[]`, "",
		},
		"OperatorProperties": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.OperatorProperties(ctx, "lvm")
				return err
			}, "GET /v2/supported-operators/lvm", 200, `[]`, "",
		},
		"Bundles": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.Bundles(ctx, client.Setting{Architecture: "arm64"})
				return err
			}, "GET /v2/operators/bundles?cpu_architecture=arm64", 200, `[]`, "",
		},
		"UpdateInfraEnv": {
			func(ctx context.Context, c *client.Client) error {
				ntp := "n"
				_, err := c.UpdateInfraEnv(ctx, envID, wire.InfraEnvUpdateParams{NtpSources: &ntp})
				return err
			}, "PATCH " + envPath, 201, `{}`, `{"ntp_sources":"n"}`,
		},
		"ImageURL": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.ImageURL(ctx, envID)
				return err
			}, "GET " + envPath + "/downloads/image-url", 200, `{}`, "",
		},
		"InfraEnvFileURL": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.InfraEnvFileURL(ctx, envID, "discovery.ign")
				return err
			}, "GET " + envPath + "/downloads/files-presigned?file_name=discovery.ign", 200, `{}`, "",
		},
		"RotateKey": {
			func(ctx context.Context, c *client.Client) error { return c.RotateKey(ctx, envID) },
			"POST " + envPath + "/regenerate-signing-key", 204, "", "",
		},
		"RecheckHost": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.RecheckHost(ctx, envID, hostID, wire.HostValidationIDContainerImagesAvailable)
				return err
			}, "PATCH " + hostPath + "/actions/reset-validation/container-images-available", 200, `{}`, "",
		},
		"SetInstallerArgs": {
			func(ctx context.Context, c *client.Client) error {
				_, err := c.SetInstallerArgs(ctx, envID, hostID, []string{"--append-karg", "quiet"})
				return err
			}, "PATCH " + hostPath + "/installer-args", 201, `{}`, `{"args":["--append-karg","quiet"]}`,
		},
		"SetHostIgnition": {
			func(ctx context.Context, c *client.Client) error { return c.SetHostIgnition(ctx, envID, hostID, "{}") },
			"PATCH " + hostPath + "/ignition", 201, "", `{"config":"{}"}`,
		},
		"ReclaimHost": {
			func(ctx context.Context, c *client.Client) error { return c.ReclaimHost(ctx, envID, hostID) },
			"POST /api/slipway/v1" + hostPath[len("/v2"):] + "/commands/reclaim", 202, "", "",
		},
	}
}
