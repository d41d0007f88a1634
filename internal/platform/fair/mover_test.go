package fair

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhoMovesMuchGivesWay(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	var after []int
	w := &writer{Writer: &out, written: mover{giveWay: func() { after = append(after, out.Len()>>10) }}}
	for _, kib := range []int{10, 10, 10, 10, 10, 10, 10, 63, 1, 1000, 1} {
		n, err := w.Write(make([]byte, kib<<10))
		require.NoError(t, err)
		require.Equal(t, kib<<10, n)
	}
	require.Equal(t, []int{70, 134, 1134}, after, "KiB")
	require.NotNil(t, Writer(&out).(*writer).written.giveWay)
}
