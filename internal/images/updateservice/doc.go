// Package updateservice keeps the releases on offer up to date with the update service
// and the product life cycles, where a deployment names release sources. What the
// answers mean is decided in package openshift.
package updateservice
