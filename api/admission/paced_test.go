package admission

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// readPaced reads a body of some MiB.
func readPaced(ctx context.Context, t *testing.T, g *Gate, owner string, mib int) (read int, err error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/", bytes.NewReader(make([]byte, mib<<20)))
	require.NoError(t, err)
	body, err := io.ReadAll(g.paced(r, owner))
	return len(body), err
}

func TestLargeBodiesOfAnOwnerAreReadAtARate(t *testing.T) {
	t.Parallel()
	g := New(Options{Limits: Limits{LargeBodiesRate: 1}, Now: time.Now})
	read, err := readPaced(t.Context(), t, g, "one", 2)
	require.NoError(t, err, "two seconds' worth are read at once")
	require.Equal(t, 2<<20, read)
	soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond) // the limiter refuses what would take longer at once
	defer cancel()
	_, err = readPaced(soon, t, g, "one", 20)
	require.Error(t, err, "the rest takes its time")
	read, err = readPaced(t.Context(), t, g, "other", 2)
	require.NoError(t, err)
	require.Equal(t, 2<<20, read)
	read, err = readPaced(t.Context(), t, New(Options{Now: time.Now}), "one", 100)
	require.NoError(t, err)
	require.Equal(t, 100<<20, read)
}
