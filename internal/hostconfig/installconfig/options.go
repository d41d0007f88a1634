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
	// NTPSources are the time sources of clusters that name none; With fills it.
	NTPSources []string
	// NoFIPS says that this service cannot run the installer of a cluster in FIPS mode.
	NoFIPS bool
}

// With adds the certificates that the hosts' InfraEnvs trust, and their time sources.
func (o Options) With(envs []*model.InfraEnv) Options {
	o.TrustBundles, o.NTPSources = slices.Clone(o.TrustBundles), slices.Clone(o.NTPSources)
	for _, e := range envs {
		for _, source := range e.NTPSources {
			if !slices.Contains(o.NTPSources, source) {
				o.NTPSources = append(o.NTPSources, source)
			}
		}
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
		for part := range strings.SplitSeq(model.Lines(bundle), end) {
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
