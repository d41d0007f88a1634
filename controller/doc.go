// Package controller brings the installation of a cluster to its end from inside the
// new cluster: it reports nodes as the hosts they are, approves the certificates of
// their kubelets, frees bare metal hosts, repairs what keeps operators from being
// installed, reports operators, delivers the ingress certificate, applies the
// user's late manifests, sends logs and says when all is done.
//
// It works in rounds. A round reads the service and the kube API (observe.go), a pure
// function lists what is missing (plan.go and the plan_* files), and that is done
// (apply.go). Nothing is remembered that a round could not find out again, so a
// controller killed at any moment is continued by the next one.
package controller
