package api

import (
	"net/http"
	"slices"

	"slipway/internal/cluster/features"
	"slipway/internal/cluster/operators"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// singleNodeFeature is the only feature that changes a bundle.
const singleNodeFeature = string(features.SNO)

// V2ListSupportedOperators lists the names of the available operators.
func (s *server) V2ListSupportedOperators(w http.ResponseWriter, r *http.Request) error {
	return ok(w, operators.Names())
}

// V2ListOperatorProperties lists what can be set of an operator.
func (s *server) V2ListOperatorProperties(w http.ResponseWriter, r *http.Request, operatorName string) error {
	o := operators.Find(operatorName)
	if o == nil {
		return model.NotFoundf("operator %q is not available", operatorName)
	}
	out := wire.OperatorProperties{}
	for _, p := range o.Properties {
		out = append(out, wire.OperatorProperty{
			Name: p.Name, DataType: wire.OperatorPropertyDataType(p.Type), Mandatory: p.Mandatory,
			Options: p.Options, Description: p.Description, DefaultValue: p.Default,
		})
	}
	return ok(w, out)
}

// V2ListBundles lists the bundles of operators that can be used in a setting.
func (s *server) V2ListBundles(w http.ResponseWriter, r *http.Request, params wire.V2ListBundlesParams) error {
	bundles, err := operators.Bundles(features.Setting{
		Version: params.OpenshiftVersion, Architecture: string(params.CPUArchitecture),
		Platform: string(params.PlatformType), ExternalName: params.ExternalPlatformName,
	}, hasSingleNode(params.FeatureIds))
	if err != nil {
		return err
	}
	out := []wire.Bundle{}
	for _, b := range bundles {
		out = append(out, bundleToWire(b))
	}
	return ok(w, out)
}

// V2GetBundle reads one bundle of operators.
func (s *server) V2GetBundle(w http.ResponseWriter, r *http.Request, id string, params wire.V2GetBundleParams) error {
	bundle, err := operators.FindBundle(id, hasSingleNode(params.FeatureIds))
	if err != nil {
		return err
	}
	return ok(w, bundleToWire(bundle))
}

func hasSingleNode[T ~string](features []T) bool {
	return slices.Contains(features, T(singleNodeFeature))
}

func bundleToWire(b operators.Bundle) wire.Bundle {
	return wire.Bundle{
		ID: b.ID, Title: b.Title, Description: b.Description, Operators: orEmpty(b.Operators), OptionalOperators: orEmpty(b.Optional),
	}
}
