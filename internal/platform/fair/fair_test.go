package fair_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/fair"
)

// onOneProcessor runs a test with one processor, so that only a goroutine that gives way lets another run.
func onOneProcessor(t *testing.T) {
	t.Helper()
	before := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

//nolint:paralleltest // it has the only processor
func TestAWriterGivesWay(t *testing.T) {
	onOneProcessor(t)
	var out bytes.Buffer
	w := fair.Writer(&out)
	piece := make([]byte, 10<<10)
	others := make(chan int, 1)
	go func() { others <- out.Len() }() // runs when this goroutine gives way
	for range 20 {
		n, err := w.Write(piece)
		require.NoError(t, err)
		require.Equal(t, len(piece), n)
	}
	require.Equal(t, 70<<10, <-others, "after the piece that completes 64 KiB")
	require.Equal(t, 200<<10, out.Len())
}

type failing struct{ io.Writer }

var errFull = errors.New("full")

func (failing) Write([]byte) (int, error) { return 0, errFull }

func TestErrorsOfAWriterAreItsOwn(t *testing.T) {
	t.Parallel()
	_, err := fair.Writer(failing{}).Write([]byte("x"))
	require.ErrorIs(t, err, errFull)
}

func TestConnectionsCarryWhatTheyGet(t *testing.T) {
	t.Parallel()
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := fair.Listener(inner)
	sent := bytes.Repeat([]byte("0123456789"), 100_000)
	served := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			_, err = conn.Write(sent)
		}
		if err == nil {
			_, closes := conn.(interface{ SetLinger(seconds int) error })
			if !closes {
				err = errors.New("it cannot be reset")
			}
		}
		if err == nil {
			err = conn.(interface{ CloseWrite() error }).CloseWrite()
		}
		if err == nil {
			var back []byte
			back, err = io.ReadAll(conn)
			if !bytes.Equal(back, sent) {
				err = errors.New("other bytes came back")
			}
		}
		served <- err
	}()
	client, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
	require.NoError(t, err)
	got, err := io.ReadAll(client)
	require.NoError(t, err)
	require.True(t, bytes.Equal(sent, got))
	_, err = client.Write(got)
	require.NoError(t, err)
	require.NoError(t, client.Close())
	require.NoError(t, <-served)
	require.NoError(t, l.Close())
	_, err = l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
}
