package cli

import (
	"context"

	"slipway/internal/cli/view"
	"slipway/internal/wire"
)

// FeaturesCommand prints how well features and operators are supported.
type FeaturesCommand struct {
	Connection
	Version string `arg:"" help:"OpenShift version: 4.20."`
	settingFlags
	All bool `help:"Also what is supported."`
}

// Run prints support levels.
func (k *FeaturesCommand) Run(ctx context.Context, t *Terminal) error {
	levels, err := k.Client().SupportLevels(ctx, k.of(k.Version))
	if err != nil {
		return failed(k.URL, "read the support levels of "+k.Version, err)
	}
	if k.forPrograms() {
		return k.print(t, levels)
	}
	table := view.Table{Header: []string{"FEATURE", "LEVEL", "BECAUSE OF"}}
	add := func(name string, level wire.SupportLevel, reason wire.IncompatibilityReason) {
		if k.All || level != wire.SupportLevelSupported {
			table.Add(name, string(level), string(reason))
		}
	}
	for _, f := range levels.Features {
		add(string(f.FeatureSupportLevelID), f.SupportLevel, f.Reason)
	}
	for _, o := range levels.Operators {
		add("operator "+o.Name, o.SupportLevel, o.Reason)
	}
	k.table(t, &table)
	return nil
}
