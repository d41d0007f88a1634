package demo

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"runtime"

	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/sim/payload"
)

// version is the release the demo serves and installs.
const version = "4.20.5"

// releases is the registry with the synthetic release.
type releases struct {
	*payload.Payload
	// list is what the service is configured with for it: the content of RELEASE_IMAGES.
	list string
}

func serveReleases(ctx context.Context, self string) (*releases, error) {
	p, err := payload.Serve(ctx, payload.Options{
		Versions: []string{version}, Architecture: runtime.GOARCH, InstallerCommand: []string{self, "installer"},
	})
	if err != nil {
		return nil, fmt.Errorf("serve the synthetic release: %w", err)
	}
	list, err := json.Marshal([]openshift.Release{{
		Version: version, DisplayName: version, CPUArchitectures: []string{"x86_64", "arm64"}, SupportLevel: "production", Default: true,
		Image: p.ReleaseImage(version),
	}})
	if err != nil {
		return nil, fmt.Errorf("describe the synthetic release: %w", err)
	}
	return &releases{Payload: p, list: string(list)}, nil
}

// pullSecret opens the registry, which takes anybody.
func (r *releases) pullSecret() model.Secret {
	auth := base64.StdEncoding.EncodeToString([]byte("demo:demo"))
	return model.Secret(fmt.Sprintf(`{"auths":{%q:{"auth":%q,"email":"demo@example.com"},"cloud.openshift.com":{"auth":%[2]q}}}`,
		r.Address(), auth))
}
