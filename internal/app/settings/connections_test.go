package settings_test

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"slipway/internal/app/settings"
)

// A process whose open files are used up accepts no connection, and cannot say so.
func TestConnectionsFitTheOpenFiles(t *testing.T) { //nolint:paralleltest // changes the limit of the process
	var before unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &before))
	t.Cleanup(func() { require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &before)) })
	for _, c := range []struct {
		files     uint64
		max, want int
		warning   bool
	}{
		{files: 4096, max: 20000, want: 3596, warning: true},
		{files: 1024, max: 20000, want: 524, warning: true},
		{files: 256, max: 20000, want: 128, warning: true},
		{files: 4096, max: 3000, want: 3000},
		{files: 4096, max: 0, want: 3596}, // no limit but the files
	} {
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: c.files, Max: before.Max}))
		var said bytes.Buffer
		bounds := settings.Connections{Max: c.max, PerAddress: 7}.Bounds(slog.New(slog.NewTextHandler(&said, nil)), time.Now)
		require.Equal(t, c.want, bounds.Total, "%+v", c)
		require.Equal(t, 7, bounds.PerAddress)
		require.Equal(t, c.warning, bytes.Contains(said.Bytes(), []byte("fewer connections than --max-connections")), "%+v", c)
	}
}
