#!/bin/sh
# Builds Ignition out of the Go module that the product checks its configs with; its own
# go.mod and go.sum say what it is made of.
#   SOURCE, VERSION   folder of the module, and what it is to call itself
# Leaves: ignition
set -eu
distro=github.com/coreos/ignition/v2/internal/distro
# A system without SELinux policy has no labels to set.
CGO_ENABLED=1 GOWORK=off GOFLAGS= nice go build -C "$SOURCE" -o "$PWD/ignition" -trimpath \
  -ldflags "-s -w -X github.com/coreos/ignition/v2/internal/version.Raw=$VERSION -X $distro.selinuxRelabel=false" \
  ./internal
