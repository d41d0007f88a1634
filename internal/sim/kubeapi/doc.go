// Package kubeapi simulates the Kubernetes API of one cluster over plain HTTP, well
// enough for client-go, kubectl and the controller: typed objects in memory with
// resource versions, optimistic locking, patches, watches, the status and approval
// subresources, and a signer that issues certificates for approved requests.
//
// A Server only stores and signs. What lives in a real cluster besides the API runs as
// clients of it: RunKubelet plays the kubelet of one machine and RunRollout the
// operators. Both read where they are from the API, so that killing and restarting
// any of the three continues what was begun.
package kubeapi
