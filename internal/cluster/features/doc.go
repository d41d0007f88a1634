// Package features evaluates how well a version of OpenShift supports features on an architecture and a platform, which features a
// cluster uses, and which exclude each other.
package features
