package process

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMemoryIsBoundedWithRoomForWhatIsInUse(t *testing.T) {
	t.Parallel()
	require.EqualValues(t, softMemory, memoryLimit(0))
	require.EqualValues(t, softMemory, memoryLimit(100<<20))
	require.EqualValues(t, 600<<20, memoryLimit(400<<20))
}
