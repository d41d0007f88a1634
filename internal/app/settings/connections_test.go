package settings_test

import (
	"bytes"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"slipway/api/admission"
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

// from is a connection of a client.
type from struct {
	net.Conn
	address net.Addr
	closed  bool
}

func (c *from) RemoteAddr() net.Addr { return c.address }
func (c *from) Close() error         { c.closed = true; return nil }

// A host has two connections for its agent, and one to boot. After a power cut the service still counts the old connections.
func TestThousandHostsBehindOneAddressMayConnect(t *testing.T) {
	t.Parallel()
	const hosts, each = 1000, 2*2 + 1
	command := defaults(t)
	bounds := command.Bounds(slog.New(slog.DiscardHandler), time.Now)
	bounds.Total = command.Max // whatever this machine lets a process open
	for n := range hosts * each {
		c := &from{address: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: n + 1}}
		bounds.State(c, http.StateNew)
		require.False(t, c.closed, "connection %d", n)
	}
}

// The defaults of flags are texts.
func TestDefaultLimitsOfRequestsAreTheOnesOfTheAPI(t *testing.T) {
	t.Parallel()
	command := defaults(t)
	limits, err := command.Limits()
	require.NoError(t, err)
	require.Equal(t, admission.DefaultLimits(), limits)
	command.Rates = []string{"image=0", " agent = 7:9"}
	limits, err = command.Limits()
	require.NoError(t, err)
	want := admission.DefaultRates()
	delete(want, admission.ClassImage)
	want["agent"] = admission.Rate{PerSecond: 7, Burst: 9}
	require.Equal(t, want, limits.Rates)
}

// defaults returns the settings of a start without any.
func defaults(t *testing.T) *settings.API {
	t.Helper()
	command := &settings.API{}
	parser, err := kong.New(command, kong.Name("slipway"), kong.Bind(&settings.Sources{Env: noVariables{}}))
	require.NoError(t, err)
	_, err = parser.Parse([]string{"--database-url=x"})
	require.NoError(t, err)
	return command
}

// noVariables is an empty environment.
type noVariables struct{}

func (noVariables) Environ() []string               { return nil }
func (noVariables) LookupEnv(string) (string, bool) { return "", false }
