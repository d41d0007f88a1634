package operators

import "slipway/internal/support"

var metallb = Operator{
	Name: "metallb", Title: "MetalLB",
	Description:  "Gives services of type LoadBalancer addresses on bare metal.",
	Feature:      support.FeatureMetalLB,
	Subscription: Subscription{Namespace: "metallb-system", Name: "metallb-operator"},
	Timeout:      usualTimeout,
}
