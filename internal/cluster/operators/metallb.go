package operators

import "slipway/internal/cluster/openshift"

var metallb = Operator{
	Name: "metallb", Title: "MetalLB",
	Description:  "Gives services of type LoadBalancer addresses on bare metal.",
	Feature:      openshift.FeatureMetalLB,
	Subscription: Subscription{Namespace: "metallb-system", Name: "metallb-operator"},
	Timeout:      usualTimeout,
}
