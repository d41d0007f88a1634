package api_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/platform/auth"
)

func TestHostsThatGoBackToDiscoveryFindItsImage(t *testing.T) {
	t.Parallel()
	id := uuid.MustParse("273f0101-ab20-42d6-93e2-d7a94f89c15c")
	for service, want := range map[string]string{
		"http://a.example:8090":  "http://a.example:8090",
		"http://a.example:8090/": "http://a.example:8090",
	} {
		for images, base := range map[string]string{"": want, "https://images.example/": "https://images.example"} {
			artifacts, err := api.BootArtifacts(api.Options{
				Identity: auth.None{}, Releases: openshift.NewCatalogue(releases(t)), BaseURL: service, ImageServiceURL: images,
			})(&model.InfraEnv{ID: id, CPUArchitecture: "x86_64"})
			require.NoError(t, err)
			require.Equal(t, base+"/boot-artifacts/kernel?arch=x86_64&version=4.22.9", artifacts.KernelURL)
			require.Equal(t, base+"/boot-artifacts/rootfs?arch=x86_64&version=4.22.9", artifacts.RootfsURL)
			require.Equal(t, base+"/images/"+id.String()+"/pxe-initrd?arch=x86_64&version=4.22.9", artifacts.InitrdURL)
		}
	}
}
