package cri_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// logLine is a line of a log as kubelets read it.
var logLine = regexp.MustCompile(`(?m)^(\S+) (stdout|stderr) ([FP]) (.*)$`)

func containsLine(content, line string) bool {
	for _, found := range logLine.FindAllStringSubmatch(content, -1) {
		if found[4] == line {
			return true
		}
	}
	return false
}

func TestProgramRunsWithEnvironmentMountsAndLog(t *testing.T) {
	t.Parallel()
	needsRoot(t)
	h := newHost(t)
	secret := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(secret, "token"), []byte("sesame\n"), 0o600))
	at := filepath.Join(t.TempDir(), "made", "for", "it")
	id := h.start(t, h.pod(t, "one"), &runtime.ContainerConfig{
		Image: image("registry.example:5000/some/shell@sha256:00"), WorkingDir: "/usr",
		Args:   []string{"-c", `echo "$GREETING from $(pwd)"; cat "$AT/token"; echo oops >&2; touch "$AT/more" || echo read only; exit 3`},
		Envs:   []*runtime.KeyValue{{Key: "GREETING", Value: []byte("hello")}, {Key: "AT", Value: []byte(at)}},
		Mounts: []*runtime.Mount{{HostPath: secret, ContainerPath: at, Readonly: true}},
	})
	found := h.ended(t, id)
	require.Equal(t, int32(3), found.GetExitCode())
	require.Equal(t, "Error", found.GetReason())
	require.GreaterOrEqual(t, found.GetFinishedAt(), found.GetStartedAt())
	require.Equal(t, filepath.Join(h.logs, "one", "main", "0.log"), found.GetLogPath())
	content, err := os.ReadFile(found.GetLogPath())
	require.NoError(t, err)
	for _, line := range []string{"hello from /usr", "sesame", "oops", "read only"} {
		require.True(t, containsLine(string(content), line), string(content))
	}
	when, err := time.Parse(time.RFC3339Nano, logLine.FindStringSubmatch(string(content))[1])
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), when, time.Minute)
	require.NoFileExists(t, filepath.Join(at, "token"), "what is mounted in a container is not seen outside")
}

func TestLongLinesAreWrittenInParts(t *testing.T) {
	t.Parallel()
	needsRoot(t)
	h := newHost(t)
	found := h.ended(t, h.shell(t, h.pod(t, "one"), `head -c 20000 /dev/zero | tr '\0' x; echo; printf end`))
	require.Equal(t, "Completed", found.GetReason())
	content, err := os.ReadFile(found.GetLogPath())
	require.NoError(t, err)
	lines := logLine.FindAllStringSubmatch(string(content), -1)
	require.Len(t, lines, 3)
	require.Equal(t, []string{"P", "F", "F"}, []string{lines[0][3], lines[1][3], lines[2][3]})
	require.Equal(t, strings.Repeat("x", 20000), lines[0][4]+lines[1][4])
	require.Equal(t, "end", lines[2][4])
}

func TestProgramIsFoundByWholeReferenceAndReplacedByCommand(t *testing.T) {
	t.Parallel()
	needsRoot(t)
	h := newHost(t)
	pod := h.pod(t, "one")
	h.ended(t, h.start(t, pod, &runtime.ContainerConfig{Image: image("registry.example:5000/one/tool:1"), Args: []string{"from the tool"}}))
	said(t, filepath.Join(h.logs, "one", "main", "0.log"), "from the tool")
	h.ended(
		t,
		h.start(t, pod, &runtime.ContainerConfig{Image: image("shell"), Command: []string{"echo"}, Args: []string{"another", "command"}}),
	)
	said(t, filepath.Join(h.logs, "one", "main", "0.log"), "another command")
}

func TestProgramThatCannotBeStartedHasEndedAndSaysWhy(t *testing.T) {
	t.Parallel()
	needsRoot(t)
	h := newHost(t)
	pod := h.pod(t, "one")
	found := h.ended(t, h.start(t, pod, &runtime.ContainerConfig{Image: image("missing:1")}))
	require.Equal(t, int32(128), found.GetExitCode())
	require.Equal(t, "StartError", found.GetReason())
	require.Contains(t, found.GetMessage(), "/nonexistent/program")
	found = h.ended(t, h.start(t, pod, &runtime.ContainerConfig{
		Image: image("shell"), Mounts: []*runtime.Mount{{HostPath: "/nonexistent/folder", ContainerPath: "/mnt"}},
	}))
	require.Contains(t, found.GetMessage(), "mount /nonexistent/folder at /mnt")
}

func TestStopAsksFirst(t *testing.T) {
	t.Parallel()
	needsRoot(t)
	h := newHost(t)
	id := h.shell(t, h.pod(t, "one"), `trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.05; done`)
	said(t, filepath.Join(h.logs, "one", "main", "0.log"), "ready")
	_, err := h.StopContainer(t.Context(), &runtime.StopContainerRequest{ContainerId: id, Timeout: 20})
	require.NoError(t, err)
	require.Equal(t, int32(7), h.status(t, id).GetExitCode())
	said(t, filepath.Join(h.logs, "one", "main", "0.log"), "bye")
	_, err = h.StopContainer(t.Context(), &runtime.StopContainerRequest{ContainerId: id})
	require.NoError(t, err, "stopping twice is fine")
}

func TestStopEndsWhatDoesNotListenWithItsChildren(t *testing.T) {
	t.Parallel()
	needsRoot(t)
	h := newHost(t)
	held := filepath.Join(t.TempDir(), "held")
	require.NoError(t, os.WriteFile(held, nil, 0o600))
	id := h.shell(t, h.pod(t, "one"), `trap '' TERM; flock `+held+` sh -c 'echo ready; sleep 1000' & wait; sleep 1000`)
	said(t, filepath.Join(h.logs, "one", "main", "0.log"), "ready")
	_, err := h.StopContainer(t.Context(), &runtime.StopContainerRequest{ContainerId: id, Timeout: 1})
	require.NoError(t, err)
	found := h.status(t, id)
	require.Equal(t, runtime.ContainerState_CONTAINER_EXITED, found.GetState())
	require.Equal(t, int32(137), found.GetExitCode())
	// The lock that the container's child held is free once that child is gone too.
	f, err := os.Open(held)
	require.NoError(t, err)
	require.Eventually(
		t,
		func() bool { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil },
		10*time.Second,
		10*time.Millisecond,
	)
}

func TestMovedLogIsBegunAnew(t *testing.T) {
	t.Parallel()
	needsRoot(t)
	h := newHost(t)
	more := filepath.Join(t.TempDir(), "more")
	id := h.shell(t, h.pod(t, "one"), `echo before; while ! [ -e `+more+` ]; do sleep 0.05; done; echo after`)
	path := filepath.Join(h.logs, "one", "main", "0.log")
	said(t, path, "before")
	require.NoError(t, os.Rename(path, path+".1"))
	_, err := h.ReopenContainerLog(t.Context(), &runtime.ReopenContainerLogRequest{ContainerId: id})
	require.NoError(t, err)
	require.Eventually(t, func() bool { _, err := os.Stat(path); return err == nil }, 10*time.Second, 10*time.Millisecond)
	require.NoError(t, os.WriteFile(more, nil, 0o600))
	h.ended(t, id)
	said(t, path, "after")
	said(t, path+".1", "before")
}
