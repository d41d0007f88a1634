package isotest_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/isotest"
)

func TestImagesCanBeRead(t *testing.T) {
	t.Parallel()
	for _, architecture := range []string{"x86_64", "aarch64", "ppc64le", "s390x"} {
		iso := isotest.Build(t, isotest.Options{Architecture: architecture, RootfsSize: 3 << 20})
		out, err := exec.Command("xorriso", "-indev", iso, "-find", "/").CombinedOutput()
		require.NoError(t, err, string(out))
		require.Contains(t, string(out), "images/pxeboot/rootfs.img")
	}
}
