package operators

import "slipway/internal/cluster/openshift"

var serviceMesh = Operator{
	Name: "servicemesh", Title: "Service mesh",
	Description:  "Controls and secures the traffic between services.",
	Feature:      openshift.FeatureServiceMesh,
	Subscription: Subscription{Namespace: "openshift-operators", Name: "servicemeshoperator"},
	Timeout:      usualTimeout,
}
