package installconfig

import (
	"slices"
	"strings"

	"slipway/internal/model"
)

// Options are settings that belong to the service, not to the cluster.
type Options struct {
	// TrustBundles are certificates in PEM that nodes trust besides the public ones;
	// each certificate is written once.
	TrustBundles []string
	// Mirrors are the mirrors of registries.
	Mirrors []ImageSource
}

// With adds the certificates that the hosts' InfraEnvs trust.
func (o Options) With(envs []*model.InfraEnv) Options {
	o.TrustBundles = slices.Clone(o.TrustBundles)
	for _, e := range envs {
		if e.AdditionalTrustBundle != "" {
			o.TrustBundles = append(o.TrustBundles, e.AdditionalTrustBundle)
		}
	}
	return o
}

func (b *builder) setMirrors(cfg *InstallConfig, mirrors []ImageSource) {
	if !b.atLeast("4.14") {
		cfg.ImageContentSources = mirrors
		return
	}
	for _, m := range mirrors {
		cfg.ImageDigestSources = append(cfg.ImageDigestSources, ImageDigestSource{Mirrors: m.Mirrors, Source: m.Source})
	}
}

// mergeBundles joins certificates and drops duplicates.
func mergeBundles(bundles []string) string {
	const end = "-----END CERTIFICATE-----"
	var merged []string
	for _, bundle := range bundles {
		for part := range strings.SplitSeq(bundle, end) {
			if part = strings.TrimSpace(part); part != "" && !slices.Contains(merged, part) {
				merged = append(merged, part)
			}
		}
	}
	if len(merged) == 0 {
		return ""
	}
	return strings.Join(merged, "\n"+end+"\n") + "\n" + end + "\n"
}
