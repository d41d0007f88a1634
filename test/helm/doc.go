// Package helm tests the chart deploy/helm/slipway: what it renders with the values of its folder ci, and its pods as processes.
// `make test-helm` prepares what it needs.
package helm
