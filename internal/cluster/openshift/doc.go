// Package openshift holds the facts about OpenShift versions: hardware requirements by role, the releases
// clients may choose from, and the defaults of a new cluster. Everything is data with a parser, so that a
// deployment can bring its own.
package openshift
