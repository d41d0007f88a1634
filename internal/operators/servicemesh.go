package operators

import "slipway/internal/support"

var serviceMesh = Operator{
	Name: "servicemesh", Title: "Service mesh",
	Description:  "Controls and secures the traffic between services.",
	Feature:      support.FeatureServiceMesh,
	Subscription: Subscription{Namespace: "openshift-operators", Name: "servicemeshoperator"},
	Timeout:      usualTimeout,
}
