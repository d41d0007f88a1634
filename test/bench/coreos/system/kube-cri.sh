#!/bin/sh
# Builds the container runtime of the bench, which runs containers as plain processes.
#   SOURCE   folder of its module
# Leaves: bench-cri
set -eu
CGO_ENABLED=0 GOWORK=off GOFLAGS= nice go build -C "$SOURCE" -o "$PWD/bench-cri" -trimpath -ldflags "-s -w" ./bench-cri
