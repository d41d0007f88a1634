package spool_test

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/spool"
)

func TestSpoolReturnsWhatWasWritten(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for name, size := range map[string]int{"nothing": 0, "in memory": 10, "at the bound": 16, "in a file": 17, "large": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			want := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
			s := spool.New(16)
			for n := 0; n < size; n += 7 {
				_, err := s.Write(want[n:min(n+7, size)])
				require.NoError(t, err)
			}
			require.Equal(t, int64(size), s.Len())
			for range 2 {
				got, err := io.ReadAll(s.Reader())
				require.NoError(t, err)
				require.True(t, bytes.Equal(want, got))
			}
			left, err := os.ReadDir(os.Getenv("TMPDIR"))
			require.NoError(t, err)
			require.Empty(t, left, "its file has no name")
			require.NoError(t, s.Close())
		})
	}
}
