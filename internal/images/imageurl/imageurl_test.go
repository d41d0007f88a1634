package imageurl_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/openshift"
	"slipway/internal/images/imageurl"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
)

func releases(t *testing.T) *openshift.Catalogue {
	t.Helper()
	list, err := openshift.ParseReleases([]byte(`[{"version":"4.22.9","cpu_architectures":["x86_64","arm64"],
		"support_level":"production","default":true,"url":"quay.io/ocp/release:4.22.9-x86_64"}]`))
	require.NoError(t, err)
	return openshift.NewCatalogue(list)
}

func TestHostsThatGoBackToDiscoveryFindItsImage(t *testing.T) {
	t.Parallel()
	id := uuid.MustParse("273f0101-ab20-42d6-93e2-d7a94f89c15c")
	for service, want := range map[string]string{
		"http://a.example:8090":  "http://a.example:8090",
		"http://a.example:8090/": "http://a.example:8090",
	} {
		for images, base := range map[string]string{"": want, "https://images.example/": "https://images.example"} {
			artifacts, err := imageurl.New(imageurl.Options{
				Identity: auth.None{}, Releases: releases(t), BaseURL: service, ImageServiceURL: images,
			}).BootArtifacts(&model.InfraEnv{ID: id, CPUArchitecture: "x86_64"})
			require.NoError(t, err)
			require.Equal(t, base+"/boot-artifacts/kernel?arch=x86_64&version=4.22.9", artifacts.KernelURL)
			require.Equal(t, base+"/boot-artifacts/rootfs?arch=x86_64&version=4.22.9", artifacts.RootfsURL)
			require.Equal(t, base+"/images/"+id.String()+"/pxe-initrd?arch=x86_64&version=4.22.9", artifacts.InitrdURL)
		}
	}
}

// holder gives out links of one kind.
type holder auth.ImageLink

func (h holder) ImageLink(*model.InfraEnv, time.Time) (auth.ImageLink, error) {
	return auth.ImageLink(h), nil
}

func TestScriptsCarryTheCredentialOfTheirInfraEnv(t *testing.T) {
	t.Parallel()
	id := uuid.MustParse("273f0101-ab20-42d6-93e2-d7a94f89c15c")
	base, e := "http://a.example:8090", &model.InfraEnv{ID: id, CPUArchitecture: "arm64", OpenShiftVersion: "4.16"}
	for kind, parameter := range map[auth.LinkKind]string{auth.ByID: "", auth.ByAPIKey: "api_key=x", auth.ByToken: "image_token=x"} {
		maker := imageurl.New(imageurl.Options{Identity: holder{Kind: kind, Value: "x"}, Releases: releases(t), BaseURL: base})
		script, err := maker.DiscoveryScript(e, time.Time{})
		require.NoError(t, err)
		chain, err := maker.ChainScript(e, "/files", time.Time{})
		require.NoError(t, err)
		require.Contains(t, script, "initrd --name initrd "+base+"/images/"+id.String()+"/pxe-initrd?")
		require.Contains(t, script, parameter)
		require.Contains(t, script, "\nkernel "+base+"/boot-artifacts/kernel?arch=arm64&version=4.16 initrd=initrd ")
		require.Contains(t, script, ` console=ttyS1,115200n8 coreos.inst.persistent-kargs="console=tty1 console=ttyS1,115200n8"`+"\nboot\n")
		require.NotContains(t, script, " ip=", "hosts may have IPv6 only")
		require.Contains(t, chain, "chain "+base+"/files?")
		require.Contains(t, chain, parameter)
		require.Contains(t, chain, "file_name=ipxe-script&")
		require.Contains(t, chain, "&mac=${net0/mac}\n")
	}
}

// iPXE trusts public authorities only; agents and users keep the address that is encrypted.
func TestScriptsLeadToTheListenerForNetworkBoot(t *testing.T) {
	t.Parallel()
	const own, boot, elsewhere = "https://192.0.2.2:8090", "http://192.0.2.2:8091", "https://images.example.com"
	e := &model.InfraEnv{ID: uuid.MustParse("273f0101-ab20-42d6-93e2-d7a94f89c15c"), CPUArchitecture: "x86_64"}
	for images, want := range map[string]string{"": boot, elsewhere: elsewhere} {
		maker := imageurl.New(imageurl.Options{
			Identity: auth.None{}, Releases: releases(t), BaseURL: own, ImageServiceURL: images, BootURL: boot + "/",
		})
		script, err := maker.DiscoveryScript(e, time.Time{})
		require.NoError(t, err)
		require.Contains(t, script, "initrd --name initrd "+want+"/images/")
		require.Contains(t, script, "\nkernel "+want+"/boot-artifacts/kernel?")
		require.Contains(t, script, " coreos.live.rootfs_url="+want+"/boot-artifacts/rootfs?")
		require.NotContains(t, script, own)
		chain, err := maker.ChainScript(e, "/files", time.Time{})
		require.NoError(t, err)
		require.Contains(t, chain, "chain "+boot+"/files?")
		iso, _, err := maker.ISO(e)
		require.NoError(t, err)
		artifacts, err := maker.BootArtifacts(e)
		require.NoError(t, err)
		require.NotContains(t, iso+artifacts.KernelURL+artifacts.InitrdURL+artifacts.RootfsURL, boot)
	}
}
