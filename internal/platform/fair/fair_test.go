package fair_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/fair"
)

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
