// Package openshift says what an OpenShift version needs and offers: hardware
// requirements by role, the releases clients may choose from, and the defaults of a
// new cluster. Everything is data with a parser, so that a deployment can bring its own.
package openshift
