// Package crds has the definitions of Slipway's custom resources. make generate writes them from the types of api/kube.
package crds

import "embed"

// Files are the definitions in YAML, one a file.
//
//go:embed *.yaml
var Files embed.FS
