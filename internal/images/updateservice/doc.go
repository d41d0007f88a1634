// Package updateservice keeps the available releases up to date with the update service and the product life
// cycles, where a deployment names release sources. Package openshift interprets the replies.
package updateservice
