package ioctl_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent/ioctl"
)

// TestNumbersAreThoseOfTheKernel has numbers that strace prints: IPMICTL_SEND_COMMAND of 40
// bytes, IPMICTL_RECEIVE_MSG_TRUNC of 48, NVME_IOCTL_ADMIN_CMD of 72; and BLKGETSIZE64,
// which differs on ppc64le.
func TestNumbersAreThoseOfTheKernel(t *testing.T) {
	t.Parallel()
	require.Equal(t, uintptr(0x8028690d), ioctl.Generic.Read('i', 13, 40))
	require.Equal(t, uintptr(0xc030690b), ioctl.Generic.ReadWrite('i', 11, 48))
	require.Equal(t, uintptr(0xc0484e41), ioctl.Generic.ReadWrite('N', 0x41, 72))
	require.Equal(t, uintptr(0x80081272), ioctl.Generic.Read(0x12, 114, 8))

	require.Equal(t, uintptr(0x4028690d), ioctl.PowerPC.Read('i', 13, 40))
	require.Equal(t, uintptr(0xc030690b), ioctl.PowerPC.ReadWrite('i', 11, 48))
	require.Equal(t, uintptr(0xc0484e41), ioctl.PowerPC.ReadWrite('N', 0x41, 72))
	require.Equal(t, uintptr(0x40081272), ioctl.PowerPC.Read(0x12, 114, 8))
}
