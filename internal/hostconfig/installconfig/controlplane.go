package installconfig

import (
	"slipway/internal/cluster/features"
	"slipway/internal/model"
)

// previewFeatures enables features that a release has as a preview only; such a cluster cannot be upgraded.
const previewFeatures = "TechPreviewNoUpgrade"

// setControlPlane writes the pools of the control plane: masters, the arbiter of two masters from 4.19 on, or
// how two masters fence each other.
func (b *builder) setControlPlane(cfg *InstallConfig) {
	masters := b.pool(model.RoleMaster, "masters")
	cfg.ControlPlane = &masters
	if arbiters := b.pool(model.RoleArbiter, "arbiters"); arbiters.Replicas > 0 {
		cfg.Arbiter = &arbiters
		if !b.atLeast("4.20") {
			cfg.FeatureSet = previewFeatures
		}
		return
	}
	if b.cluster.ControlPlaneCount != fencedNodes {
		return
	}
	if credentials := b.fencing(); len(credentials) > 0 {
		masters.Fencing = &Fencing{Credentials: credentials}
		if !b.atLeast("4.22") {
			cfg.FeatureSet = previewFeatures
		}
	}
}

// checkArbiter refuses an arbiter where the installer would. The role is refused earlier; a
// cluster may have got another platform since.
func (b *builder) checkArbiter() error {
	if b.count(model.RoleArbiter) == 0 {
		return nil
	}
	if err := features.CheckArbiter(b.cluster); err != nil {
		return model.Unprocessablef("%s", err)
	}
	return nil
}

// fencedNodes is the size of a control plane that needs fencing.
const fencedNodes = 2

func (b *builder) fencing() []FencingCredential {
	var all []FencingCredential
	for _, h := range b.hosts {
		if h.Fencing == nil || h.EffectiveRole() != model.RoleMaster {
			continue
		}
		all = append(all, FencingCredential{
			HostName: h.Hostname(), Username: h.Fencing.Username, Password: h.Fencing.Password.Reveal(),
			Address: h.Fencing.Address, CertificateVerification: h.Fencing.CertificateVerification,
		})
	}
	return all
}
