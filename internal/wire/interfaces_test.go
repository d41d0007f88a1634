package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
)

func TestInterfaceHasMAC(t *testing.T) {
	t.Parallel()
	given := wire.Interface{MacAddress: "02:00:5e:20:00:01", CurrentMacAddress: "02:aa:bb:cc:dd:01"}
	require.True(t, given.HasMAC("02:00:5E:20:00:01"))
	require.True(t, given.HasMAC("02:AA:bb:cc:dd:01"))
	require.False(t, given.HasMAC("02:aa:bb:cc:dd:02"))
	plain := wire.Interface{MacAddress: "02:00:5e:20:00:01"}
	require.True(t, plain.HasMAC("02:00:5e:20:00:01"))
	require.False(t, plain.HasMAC(""), "it was given no other")
}
