package hostexec_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"slipway/internal/platform/hostexec"
	"slipway/internal/testing/await"
)

func TestExecDoesNotWaitForACommandThatCannotEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("called off")
	pid, over := make(chan string, 1), make(chan error, 1)
	go func() {
		_, err := hostexec.Exec{}.Run(ctx, hostexec.Cmd{
			Name: "sh", Args: []string{"-c", "echo $$; exec sleep 1000"},
			Output: func(chunk []byte) { pid <- strings.TrimSpace(string(chunk)) },
		})
		over <- err
	}()
	hold(t, <-pid)
	cancel(why)
	require.ErrorIs(t, await.Receive(t, over, "still waits"), why)
}

// hold keeps a process from being waited for after it was killed, as a disk that does not
// answer does: it has a tracer that does not look after it.
func hold(t *testing.T, pid string) {
	t.Helper()
	tracer := exec.Command(os.Args[0], "-test.run=^TestHelperHoldsAProcess$")
	tracer.Env = append(os.Environ(), "HELPER_HOLDS="+pid)
	tracer.Stderr = &bytes.Buffer{}
	in, err := tracer.StdinPipe()
	require.NoError(t, err)
	out, err := tracer.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, tracer.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = tracer.Wait()
	})
	said := make([]byte, 7)
	_, err = io.ReadFull(out, said)
	require.NoError(t, err)
	if string(said) != "holding" {
		t.Skip("SKIP: no process may be traced here")
	}
}

// TestHelperHoldsAProcess acts as the tracer; it ends with its standard input.
func TestHelperHoldsAProcess(t *testing.T) {
	held := os.Getenv("HELPER_HOLDS")
	if held == "" {
		t.Skip("only as a process of another test")
	}
	runtime.LockOSThread() // the thread that traces
	pid, err := strconv.Atoi(held)
	require.NoError(t, err)
	if err := unix.PtraceSeize(pid); err != nil {
		_, _ = os.Stdout.WriteString("refused")
		return
	}
	_, _ = os.Stdout.WriteString("holding")
	_, _ = io.Copy(io.Discard, os.Stdin)
}
