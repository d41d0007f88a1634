#!/bin/sh
# Builds the programs of Kubernetes out of Go modules; a go.mod of their own and its go.sum
# say what they are made of.
#   SOURCE, VERSION   folder of that module, and what the programs are to call themselves
# Leaves: kube-apiserver, kube-controller-manager, kubelet, kubectl
set -eu
minor=${VERSION#v1.}
base=k8s.io/component-base/version
for name in kube-apiserver kube-controller-manager kubelet kubectl; do
  CGO_ENABLED=0 GOWORK=off GOFLAGS= nice go build -C "$SOURCE" -o "$PWD/$name" -trimpath \
    -ldflags "-s -w -X $base.gitVersion=$VERSION -X $base.gitMajor=1 -X $base.gitMinor=${minor%%.*} -X $base.gitTreeState=clean -X k8s.io/client-go/pkg/version.gitVersion=$VERSION" \
    "k8s.io/kubernetes/cmd/$name"
done
