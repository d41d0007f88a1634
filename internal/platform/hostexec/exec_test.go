package hostexec_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/hostexec"
	"slipway/internal/testing/await"
)

func TestExecTellsWhatACommandDid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cmd    hostexec.Cmd
		stdout string
		code   int
		stderr string
	}{
		"prints":      {cmd: hostexec.Cmd{Name: "echo", Args: []string{"a b", "c"}}, stdout: "a b c\n"},
		"reads stdin": {cmd: hostexec.Cmd{Name: "cat", Stdin: "given"}, stdout: "given"},
		"has more variables": {
			cmd: hostexec.Cmd{Name: "sh", Args: []string{"-c", "echo $EXTRA; test -n \"$PATH\""}, Env: []string{"EXTRA=1"}}, stdout: "1\n",
		},
		"ends with a code": {
			cmd: hostexec.Cmd{Name: "sh", Args: []string{"-c", "echo out; echo bad >&2; exit 3"}}, stdout: "out\n", code: 3, stderr: "bad",
		},
		"reports its error on stdout": {
			cmd:    hostexec.Cmd{Name: "sh", Args: []string{"-c", "echo 506 Cannot talk to daemon; exit 1"}},
			stdout: "506 Cannot talk to daemon\n", code: 1, stderr: "506 Cannot talk to daemon",
		},
		"is killed by a signal": {
			cmd: hostexec.Cmd{Name: "sh", Args: []string{"-c", "kill -9 $$"}}, code: -1, stderr: "signal: killed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := hostexec.Exec{}.Run(t.Context(), c.cmd)
			require.Equal(t, c.stdout, result.Stdout)
			if c.code == 0 {
				require.NoError(t, err)
				return
			}
			var exit *hostexec.ExitError
			require.ErrorAs(t, err, &exit)
			require.Equal(t, c.code, exit.Code)
			require.Equal(t, c.stderr, exit.Stderr)
		})
	}
}

func TestExecTellsThatACommandDoesNotExist(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"no-such-command-here", "/no/such/command"} {
		_, err := hostexec.Exec{}.Run(t.Context(), hostexec.Cmd{Name: name})
		require.ErrorIs(t, err, hostexec.ErrNoCommand)
		require.True(t, hostexec.Missing(err))
	}
	_, err := hostexec.Exec{Enter: []string{"env", "--"}}.Run(t.Context(), hostexec.Cmd{Name: "no-such-command-here"})
	require.True(t, hostexec.Missing(err), "through another command: %v", err)
	_, err = hostexec.Exec{}.Run(t.Context(), hostexec.Cmd{Name: "false"})
	require.False(t, hostexec.Missing(err))
}

func TestExecTellsNoHalfLines(t *testing.T) {
	t.Parallel()
	script := "for n in $(seq 1 200); do echo password-of-the-registry >&2; done; exit 1"
	_, err := hostexec.Exec{}.Run(t.Context(), hostexec.Cmd{Name: "sh", Args: []string{"-c", script}})
	var exit *hostexec.ExitError
	require.ErrorAs(t, err, &exit)
	require.True(t, strings.HasPrefix(exit.Stderr, "password-of-the-registry\n"), "half a secret is not known for one: %.40q", exit.Stderr)
	require.Greater(t, len(exit.Stderr), 1<<10)
	_, err = hostexec.Exec{}.Run(t.Context(), hostexec.Cmd{Name: "sh", Args: []string{"-c", "seq -s, 1 2000 >&2; exit 1"}})
	require.ErrorAs(t, err, &exit)
	require.Len(t, exit.Stderr, 2<<10, "of one long line its end")
}

func TestExecStreamsWhatACommandPrints(t *testing.T) {
	t.Parallel()
	var all bytes.Buffer
	result, err := hostexec.Exec{}.Run(t.Context(), hostexec.Cmd{
		Name: "sh", Args: []string{"-c", "echo one; echo two >&2; seq 1 100000"}, Output: func(chunk []byte) { all.Write(chunk) },
	})
	require.NoError(t, err)
	require.Contains(t, all.String(), "one\n")
	require.Contains(t, all.String(), "two\n")
	require.Contains(t, all.String(), "\n100000\n")
	require.LessOrEqual(t, len(result.Stdout), 64<<10)
	require.True(t, strings.HasSuffix(result.Stdout, "\n100000\n"), "the result keeps the end")
}

func TestExecKillsTheWholeGroupWhenTheContextEnds(t *testing.T) {
	t.Parallel()
	pids := filepath.Join(t.TempDir(), "pids")
	ctx, cancel := context.WithCancelCause(t.Context())
	ready := make(chan struct{})
	why := errors.New("called off")
	go func() {
		<-ready
		cancel(why)
	}()
	_, err := hostexec.Exec{}.Run(ctx, hostexec.Cmd{
		Name: "sh", Args: []string{"-c", "sleep 1000 & echo $! > " + pids + "; echo ready; sleep 1000"},
		Output: func([]byte) { close(ready) },
	})
	require.ErrorIs(t, err, why)
	requireDead(t, pids)
}

func TestExecDoesNotWaitForWhomACommandLeavesBehind(t *testing.T) {
	t.Parallel()
	pids := filepath.Join(t.TempDir(), "pids")
	result, err := hostexec.Exec{}.Run(
		t.Context(),
		hostexec.Cmd{Name: "sh", Args: []string{"-c", "sleep 1000 & echo $! > " + pids + "; echo done"}},
	)
	require.NoError(t, err)
	require.Equal(t, "done\n", result.Stdout)
	content, err := os.ReadFile(pids)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}

func TestExecLetsNoCommandOutliveItsProcess(t *testing.T) {
	t.Parallel()
	pids := filepath.Join(t.TempDir(), "pids")
	agent := exec.Command(os.Args[0], "-test.run=^TestHelperSleeps$")
	agent.Env = append(os.Environ(), "HELPER_PIDS="+pids)
	out, err := agent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, agent.Start())
	_, err = out.Read(make([]byte, 1)) // the command has started
	require.NoError(t, err)
	require.NoError(t, agent.Process.Kill())
	_ = agent.Wait()
	requireDead(t, pids)
}

// TestHelperSleeps acts as the process that TestExecLetsNoCommandOutliveItsProcess kills.
func TestHelperSleeps(t *testing.T) {
	pids := os.Getenv("HELPER_PIDS")
	if pids == "" {
		t.Skip("only as a process of another test")
	}
	_, _ = hostexec.Exec{}.Run(t.Context(), hostexec.Cmd{
		Name: "sh", Args: []string{"-c", "echo $$ > " + pids + "; echo ready; exec sleep 1000"},
		Output: func(chunk []byte) { _, _ = os.Stdout.Write(chunk) },
	})
}

// requireDead waits until the process whose id is in a file is gone.
func requireDead(t *testing.T, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	require.NoError(t, err)
	await.True(t, func() bool { return gone(pid) }, "process %d lives", pid)
}

// gone counts a zombie that was not waited for yet.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(stat), ") Z ")
}
