package encryption_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/encryption"
)

func TestDerivedKeysDependOnKeyAndPurpose(t *testing.T) {
	t.Parallel()
	derived := newSealer(t, key(1)).Derive("addresses")
	require.Len(t, derived, encryption.KeySize)
	require.Equal(t, derived, newSealer(t, key(1), key(2)).Derive("addresses"), "every process with the key makes the same")
	require.NotEqual(t, derived, newSealer(t, key(1)).Derive("other"))
	require.NotEqual(t, derived, newSealer(t, key(2)).Derive("addresses"))
	require.NotEqual(t, key(1), derived)
}
