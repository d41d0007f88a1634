package remaster

import (
	"fmt"
	"io"

	"slipway/internal/images/remaster/rootfs"
)

// maxNmstatectl limits the program, in bytes; it has about 20 MiB.
const maxNmstatectl = 200 << 20

// nmstatectlPatterns are where the program is: CoreOS keeps its trees in an OSTree
// deployment.
var nmstatectlPatterns = []string{"usr/bin/nmstatectl", "ostree/deploy/*/deploy/*/usr/bin/nmstatectl"}

// Nmstatectl extracts the program with which hosts apply NMState from the root file system of an image, as a
// gzip'ed cpio archive for the initramfs: it is needed before the root file system is available.
func Nmstatectl(r io.ReaderAt, b *Base) ([]byte, error) {
	l, err := b.Rootfs()
	if err != nil {
		return nil, err
	}
	program, err := rootfs.File(l.Reader(r), l.Size(), rootfs.Request{Patterns: nmstatectlPatterns, Limit: maxNmstatectl})
	if err != nil {
		return nil, fmt.Errorf("take nmstatectl out of image %s: %w", b.Label(), err)
	}
	return pack(packedFile{"usr/bin/nmstatectl", 0o755, program})
}
