package demo

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/sim/payload"
)

// The releases that the demo serves and installs.
const (
	version    = "4.20.5"
	okdVersion = "4.20.0-okd-scos.13"
)

// release is one that a cluster of the plan is installed with.
type release struct {
	version string
	// architecture as Go names it; empty: this machine's.
	architecture string
}

func (r release) goArchitecture() string { return cmp.Or(r.architecture, runtime.GOARCH) }

// cpuArchitecture returns the architecture as the API names it.
func (r release) cpuArchitecture() string {
	if r.goArchitecture() == "amd64" {
		return "x86_64"
	}
	return r.goArchitecture()
}

// releases are the registries with the synthetic releases.
type releases struct {
	served map[release]*payload.Payload
	// list configures the service with them: the content of RELEASE_IMAGES.
	list string
}

func serveReleases(ctx context.Context, self string, plan []clusterPlan) (*releases, error) {
	r := &releases{served: map[release]*payload.Payload{}}
	var offered []openshift.Release
	for _, c := range append([]clusterPlan{{release: release{version: version}}}, plan...) {
		if r.served[c.release] != nil {
			continue
		}
		p, err := payload.Serve(ctx, payload.Options{
			Versions: []string{c.release.version}, Architecture: c.release.goArchitecture(), HostArchitecture: runtime.GOARCH,
			InstallerCommand: []string{self, "installer"},
		})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("serve the synthetic release %s: %w", c.release.version, err), r.Close())
		}
		r.served[c.release] = p
		offered = append(offered, openshift.Release{
			Version: c.release.version, CPUArchitecture: c.release.cpuArchitecture(), SupportLevel: "production",
			Default: len(offered) == 0, Image: p.ReleaseImage(c.release.version),
		})
	}
	list, err := json.Marshal(offered)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("describe the synthetic releases: %w", err), r.Close())
	}
	r.list = string(list)
	return r, nil
}

// Close ends the registries.
func (r *releases) Close() error {
	var err error
	for _, p := range r.served {
		err = errors.Join(err, p.Close())
	}
	return err
}

// addresses lists the addresses of the registries, host:port.
func (r *releases) addresses() []string {
	var all []string
	for _, p := range r.served {
		all = append(all, p.Address())
	}
	slices.Sort(all)
	return all
}

// public returns the registry that every user can read: OKD's; empty where none is served.
func (r *releases) public() string {
	if p := r.served[release{version: okdVersion}]; p != nil {
		return p.Address()
	}
	return ""
}

// pullSecret opens the registry of a release, which takes any user. The registry of OKD needs none: the secret opens no registry, as the
// documentation of OKD has it.
func (r *releases) pullSecret(of release) model.Secret {
	auth := base64.StdEncoding.EncodeToString([]byte("demo:demo"))
	if of.version == okdVersion {
		return model.Secret(fmt.Sprintf(`{"auths":{"fake":{"auth":%q}}}`, auth))
	}
	return model.Secret(fmt.Sprintf(`{"auths":{%q:{"auth":%q,"email":"demo@example.com"},"cloud.openshift.com":{"auth":%[2]q}}}`,
		r.served[of].Address(), auth))
}
