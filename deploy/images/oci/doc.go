// Package oci builds the container images of Slipway without a daemon: the files of Debian packages that a lock names, and the programs
// of a build, as OCI image layouts (https://github.com/opencontainers/image-spec) for several architectures. Equal inputs give equal
// digests. Nothing of a package runs, so that images of other architectures than this machine's can be built.
package oci
