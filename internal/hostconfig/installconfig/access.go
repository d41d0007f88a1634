package installconfig

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"slipway/internal/cluster/access"
	"slipway/internal/model"
)

// checkAccess returns an error where the installer would refuse how nodes and users reach others: proxies, mirrors, SSH keys
// (openshift/installer, pkg/types/validation/installconfig.go, validateProxy and validateImageContentSources; pkg/validate, SSHPublicKey).
func (c *InstallConfig) checkAccess(cluster *model.Cluster) error {
	if len(c.ImageContentSources) > 0 && len(c.ImageDigestSources) > 0 {
		return misfit("imageContentSources", "must not be set beside imageDigestSources, which takes all mirrors")
	}
	if c.SSHKey != cluster.SSHKeys() {
		if _, err := access.PublicKeys(c.SSHKey); err != nil {
			return misfit("sshKey", "%s", err)
		}
	}
	if c.Proxy == nil {
		return nil
	}
	if c.Proxy.HTTPProxy == "" && c.Proxy.HTTPSProxy == "" {
		return misfit("proxy", "httpProxy or httpsProxy is required")
	}
	for _, a := range []struct {
		field, address string
		schemes        []string
	}{{"httpProxy", c.Proxy.HTTPProxy, access.HTTPProxy}, {"httpsProxy", c.Proxy.HTTPSProxy, access.HTTPSProxy}} {
		if a.address == "" {
			continue
		}
		if err := access.CheckProxy(a.address, a.schemes); err != nil {
			return misfit("proxy."+a.field, "%s", err)
		}
	}
	switch exceptions, err := access.Exceptions(c.Proxy.NoProxy); {
	case err != nil:
		return misfit("proxy.noProxy", "%s", err)
	case exceptions != c.Proxy.NoProxy:
		return misfit("proxy.noProxy", "must have no blanks, line breaks and capitals")
	}
	return nil
}

// checkAddresses keeps the virtual addresses of the cluster, which the validations look at.
func (b *builder) checkAddresses(cfg *InstallConfig) error {
	var found addresses
	switch p := cfg.Platform; {
	case p.BareMetal != nil:
		found = addresses{p.BareMetal.APIVIP, p.BareMetal.APIVIPs, p.BareMetal.IngressVIP, p.BareMetal.IngressVIPs}
	case p.VSphere != nil:
		found = addresses{p.VSphere.APIVIP, p.VSphere.APIVIPs, p.VSphere.IngressVIP, p.VSphere.IngressVIPs}
	case p.Nutanix != nil:
		found = addresses{p.Nutanix.APIVIP, p.Nutanix.APIVIPs, p.Nutanix.IngressVIP, p.Nutanix.IngressVIPs}
	default:
		return nil
	}
	var cluster addresses
	cluster.api, cluster.apis, cluster.ingress, cluster.ingresses = b.vips()
	if found.all() != cluster.all() {
		return misfit("platform", "require the virtual addresses of the cluster, %s, found %s: change api_vips and ingress_vips there",
			cluster.all(), found.all())
	}
	return nil
}

// addresses are the virtual addresses in an install-config.
type addresses struct {
	api       string
	apis      []string
	ingress   string
	ingresses []string
}

func (a addresses) all() string {
	return fmt.Sprintf("%s for the API and %s for ingress", join(a.api, a.apis), join(a.ingress, a.ingresses))
}

func join(one string, several []string) string {
	return cmp.Or(strings.Join(slices.DeleteFunc(append([]string{one}, several...), func(s string) bool { return s == "" }), ", "), "none")
}
