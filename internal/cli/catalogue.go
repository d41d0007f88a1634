package cli

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"slipway/internal/cli/view"
	"slipway/internal/client"
	"slipway/internal/wire"
)

// settingFlags narrow a query.
type settingFlags struct {
	Arch             string            `enum:",x86_64,arm64,ppc64le,s390x,multi" default:"" help:"CPU architecture of the hosts." placeholder:"x86_64"`
	Platform         wire.PlatformType `enum:",baremetal,none,vsphere,nutanix,external" default:"" help:"Platform of the hosts." placeholder:"TYPE"`
	ExternalPlatform string            `help:"Name of the external platform: oci." placeholder:"NAME"`
}

func (f settingFlags) of(version string) client.Setting {
	return client.Setting{Version: version, Architecture: f.Arch, Platform: string(f.Platform), ExternalName: f.ExternalPlatform}
}

// VersionsCommand lists the versions that can be installed.
type VersionsCommand struct {
	Connection
	Latest bool `help:"Only the newest of each minor version."`
}

// Run prints the versions, oldest first.
func (k *VersionsCommand) Run(ctx context.Context, t *Terminal) error {
	versions, err := k.Client().OpenShiftVersions(ctx, k.Latest)
	if err != nil {
		return failed(k.URL, "list the versions", err)
	}
	if k.forPrograms() {
		return k.print(t, versions)
	}
	images, err := k.Client().OSImages(ctx)
	if err != nil {
		return failed(k.URL, "list the live images", err)
	}
	table := view.Table{Header: []string{"VERSION", "SUPPORT", "ARCHITECTURES", "LIVE IMAGES", ""}}
	for _, version := range sortedVersions(versions) {
		v, mark := versions[version], ""
		if v.Default {
			mark = "default"
		}
		table.Add(version, string(v.SupportLevel), strings.Join(v.CPUArchitectures, ", "), strings.Join(imagesOf(version, images), ", "), mark)
	}
	k.table(t, &table)
	return nil
}

// imagesOf returns the architectures that have a live image of the minor version of a release.
func imagesOf(version string, images []wire.LiveImage) []string {
	v, err := semver.NewVersion(version)
	if err != nil {
		return nil
	}
	var architectures []string
	for _, image := range images {
		i, err := semver.NewVersion(image.OpenShiftVersion)
		if err == nil && i.Major() == v.Major() && i.Minor() == v.Minor() && !slices.Contains(architectures, image.CPUArchitecture) {
			architectures = append(architectures, image.CPUArchitecture)
		}
	}
	return slices.Sorted(slices.Values(architectures))
}

// sortedVersions returns the versions, oldest first; invalid ones come before.
func sortedVersions(versions wire.OpenshiftVersions) []string {
	return slices.SortedFunc(maps.Keys(versions), func(a, b string) int {
		x, xerr := semver.NewVersion(a)
		y, yerr := semver.NewVersion(b)
		if xerr != nil || yerr != nil {
			return cmp.Compare(a, b)
		}
		return x.Compare(y)
	})
}

// OperatorsCommands are the commands below "operators".
type OperatorsCommands struct {
	Connection
	List    operatorsList    `cmd:"" help:"List the operators that can be installed with a cluster."`
	Show    operatorsShow    `cmd:"" help:"List the properties of an operator."`
	Bundles operatorsBundles `cmd:"" help:"List the bundles of operators."`
}

type operatorsList struct{}

// Run prints the names of operators.
func (operatorsList) Run(ctx context.Context, at *OperatorsCommands, t *Terminal) error {
	names, err := at.Client().OperatorNames(ctx)
	if err != nil {
		return failed(at.URL, "list the operators", err)
	}
	if at.forPrograms() {
		return at.print(t, names)
	}
	for _, name := range names {
		t.printf("%s\n", name)
	}
	return nil
}

type operatorsShow struct {
	Operator string `arg:"" help:"Name of the operator."`
}

// Run prints the properties of an operator.
func (k *operatorsShow) Run(ctx context.Context, at *OperatorsCommands, t *Terminal) error {
	properties, err := at.Client().OperatorProperties(ctx, k.Operator)
	if err != nil {
		return failed(at.URL, "read the properties of operator "+k.Operator, err)
	}
	if at.forPrograms() {
		return at.print(t, properties)
	}
	if len(properties) == 0 {
		t.printf("operator %s has no properties\n", k.Operator)
		return nil
	}
	table := view.Table{Header: []string{"PROPERTY", "TYPE", "DEFAULT", "ONE OF", "WHAT"}}
	for _, p := range properties {
		table.Add(p.Name, string(p.DataType), p.DefaultValue, strings.Join(p.Options, ", "), p.Description)
	}
	at.table(t, &table)
	return nil
}

type operatorsBundles struct {
	Version string `help:"Only bundles available for this OpenShift version." placeholder:"4.20"`
	settingFlags
}

// Run prints bundles.
func (k *operatorsBundles) Run(ctx context.Context, at *OperatorsCommands, t *Terminal) error {
	bundles, err := at.Client().Bundles(ctx, k.of(k.Version))
	if err != nil {
		return failed(at.URL, "list the bundles", err)
	}
	if at.forPrograms() {
		return at.print(t, bundles)
	}
	table := view.Table{Header: []string{"BUNDLE", "OPERATORS", "OPTIONAL", "WHAT"}}
	for _, b := range bundles {
		table.Add(b.ID, strings.Join(b.Operators, ", "), strings.Join(b.OptionalOperators, ", "), b.Description)
	}
	at.table(t, &table)
	return nil
}
