package activities_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"slipway/activities"
	"slipway/internal/model"
)

func TestWhatARetryCannotMendEndsThePreparation(t *testing.T) {
	t.Parallel()
	masters := []model.Role{model.RoleMaster, model.RoleMaster, model.RoleMaster}
	fips := func(c *model.Cluster) { c.SSHPublicKey, c.InstallConfigOverride = "ssh-rsa AAAA", `{"fips":true}` }
	for name, c := range map[string]struct {
		cluster func(*model.Cluster)
		files   func(*activities.Files)
		want    string
	}{
		"FIPS where the service knows that it cannot": {
			fips, func(f *activities.Files) { f.InstallConfig.NoFIPS = true }, "fips: a service that runs on RHEL 9 in FIPS mode is required",
		},
		"FIPS where only the installer knows": {
			fips, func(*activities.Files) {}, "fips: Forbidden: target cluster is in FIPS mode",
		},
		"a release of another version": {
			func(c *model.Cluster) { c.OpenShiftVersion = "4.19.9" }, func(*activities.Files) {},
			"require a release of OpenShift 4.19, as the cluster's version 4.19.9, found 4.20.33",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := prepare(t, c.cluster, masters...)
			c.files(p.files)
			err := p.generate()
			require.ErrorContains(t, err, c.want)
			var failure *temporal.ApplicationError
			require.ErrorAs(t, err, &failure)
			require.True(t, failure.NonRetryable())
			require.Equal(t, activities.FailureRefused, failure.Type())
		})
	}
}

func TestTimeSourcesOfEnvironmentsReachTheInstaller(t *testing.T) {
	t.Parallel()
	p := prepare(t, func(*model.Cluster) {}, model.RoleMaster, model.RoleMaster, model.RoleMaster)
	require.NoError(t, p.generate())
	require.Contains(t, string(p.file("install-config.yaml")), "additionalNTPServers:\n    - ntp.example.com\n")
}

func TestAManifestThatNodesCannotBeConfiguredFromEndsThePreparation(t *testing.T) {
	t.Parallel()
	p := prepare(t, func(*model.Cluster) {}, model.RoleMaster, model.RoleMaster, model.RoleMaster)
	// A version of before took it.
	p.addManifest("openshift", "a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {port: 80}\n")
	err := p.generate()
	require.ErrorContains(t, err, "the machine config controller cannot read document 1 of a.yaml: ConfigMap: json: cannot unmarshal number")
	var failure *temporal.ApplicationError
	require.ErrorAs(t, err, &failure)
	require.True(t, failure.NonRetryable())
}
